#include "tokenizer/vocab.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tokenizer/special_tokens.h"

namespace quire::tokenizer {
namespace {

// What a kind of vocabulary assumes where the file is silent.
struct KindDefaults {
  std::string_view model;
  VocabKind kind;
  TokenId bos = kNoToken, eos = kNoToken, unk = kNoToken, sep = kNoToken, pad = kNoToken, mask = kNoToken;
  bool add_bos = false, add_eos = false, space_prefix = false, clean_spaces = false, escaped_spaces = false;
  std::string_view pre = {};  // fixed pre-tokenizer; else the file names one
};
constexpr KindDefaults kKinds[] = {
    {.model = "llama",
     .kind = VocabKind::kSpm,
     .bos = 1,
     .eos = 2,
     .unk = 0,
     .add_bos = true,
     .space_prefix = true,
     .escaped_spaces = true},
    {.model = "gpt2", .kind = VocabKind::kBpe, .bos = 11, .eos = 11, .clean_spaces = true},
    {.model = "gemma4",
     .kind = VocabKind::kBpe,
     .add_bos = true,
     .clean_spaces = true,
     .escaped_spaces = true,
     .pre = "gemma4"},
    {.model = "whitespace", .kind = VocabKind::kBpe, .pre = "whitespace"},
    {.model = "bert",
     .kind = VocabKind::kWpm,
     .bos = 101,
     .unk = 100,
     .sep = 102,
     .pad = 0,
     .mask = 103,
     .add_bos = true,
     .clean_spaces = true,
     .escaped_spaces = true},
    {.model = "t5",
     .kind = VocabKind::kUgm,
     .eos = 1,
     .unk = 2,
     .pad = 0,
     .add_eos = true,
     .escaped_spaces = true},
    {.model = "rwkv", .kind = VocabKind::kRwkv, .unk = 0},
    {.model = "no_vocab", .kind = VocabKind::kNone},
    {.model = "none", .kind = VocabKind::kNone},
};

Result<const KindDefaults*> find_kind(std::string_view model) {
  for (const KindDefaults& row : kKinds) {
    if (row.model == model) return &row;
  }
  return make_error(ErrorCode::kUnsupported, "tokenizer.ggml.model: '{}' is not a tokenizer this program has",
                    model);
}

Status choose_pre_tokenizer(Vocab& vocab, const KindDefaults& kind, const VocabData& data, LogSink& log) {
  if (vocab.kind != VocabKind::kBpe) return {};
  std::string_view name = kind.pre.empty() ? std::string_view(data.pre) : kind.pre;
  if (name.empty()) {
    log.write(
        LogLevel::kWarning,
        "tokenizer.ggml.pre is missing: text is cut by the generic rules, which may differ from the model's; "
        "convert the model again to fix it");
    name = "default";
  }
  vocab.pre = find_pre_tokenizer(name);
  if (vocab.pre == nullptr) {
    return make_error(ErrorCode::kUnsupported, "tokenizer.ggml.pre: unknown pre-tokenizer '{}'", name);
  }
  return {};
}

Status check_lengths(const Vocab& vocab, const VocabData& data) {
  const size_t n = data.tokens.size();
  if (n == 0) return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: missing or empty");
  if (n > INT32_MAX)
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: {} entries are too many", n);
  if (!data.types.empty() && data.types.size() < n) {
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.token_type: {} entries for {} tokens",
                      data.types.size(), n);
  }
  const bool needs_scores = vocab.kind == VocabKind::kSpm || vocab.kind == VocabKind::kUgm;
  if (needs_scores && data.scores.size() < n) {
    return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.scores: {} entries for {} tokens",
                      data.scores.size(), n);
  }
  if (needs_scores) {
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(data.scores[i])) {
        return make_error(ErrorCode::kCorrupt,
                          "tokenizer.ggml.scores: the score of token {} is not a finite number", i);
      }
    }
  }
  return {};
}

Status take_tokens(Vocab& vocab, VocabData& data) {
  const size_t n = data.tokens.size();
  vocab.texts = std::move(data.tokens);
  vocab.file_types = std::move(data.types);
  vocab.file_types.resize(n, TokenType::kNormal);
  vocab.types = vocab.file_types;
  if (vocab.kind == VocabKind::kSpm || vocab.kind == VocabKind::kUgm) {
    vocab.scores = std::move(data.scores);
    vocab.scores.resize(n);
  }
  vocab.index = TextIndex(n);
  for (size_t i = 0; i < n; ++i) {
    if (vocab.texts[i].empty()) vocab.texts[i] = fmt::format("[EMPTY_{}]", i);
    const TokenId id = static_cast<TokenId>(i);
    const TokenId first = vocab.index.insert(vocab.texts[i], id);
    if (first != id) {
      return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.tokens: tokens {} and {} have the same text",
                        first, i);
    }
  }
  return {};
}

void take_special_ids(Vocab& vocab, const KindDefaults& kind, const VocabData& data, LogSink& log) {
  vocab.special_ids.fill(kNoToken);
  const auto set_default = [&](SpecialRole role, TokenId id) {
    if (id == kNoToken || static_cast<size_t>(id) >= vocab.size()) return;
    // A GPT-2 style file without keys says nothing; id 11 is meant only where it is a control token.
    if (vocab.kind == VocabKind::kBpe && vocab.types[static_cast<size_t>(id)] != TokenType::kControl) return;
    vocab.special_ids[static_cast<size_t>(role)] = id;
  };
  set_default(SpecialRole::kBos, kind.bos);
  set_default(SpecialRole::kEos, kind.eos);
  set_default(SpecialRole::kUnk, kind.unk);
  set_default(SpecialRole::kSep, kind.sep);
  set_default(SpecialRole::kPad, kind.pad);
  set_default(SpecialRole::kMask, kind.mask);
  if (vocab.pre != nullptr && vocab.pre->bos == BosDefault::kUnset) {
    vocab.special_ids[static_cast<size_t>(SpecialRole::kBos)] = kNoToken;
  }
  for (size_t role = 0; role < kSpecialRoles; ++role) {
    if (!data.special[role]) continue;
    if (*data.special[role] < vocab.size()) {
      vocab.special_ids[role] = static_cast<TokenId>(*data.special[role]);
    } else {
      log.write(LogLevel::kWarning,
                fmt::format("special token number {} has id {}, outside the vocabulary of {}; ignored", role,
                            *data.special[role], vocab.size()));
    }
  }
}

void take_flags(Vocab& vocab, const KindDefaults& kind, const VocabData& data, LogSink& log) {
  VocabFlags& flags = vocab.flags;
  flags.add_bos = kind.add_bos;
  flags.add_eos = kind.add_eos;
  flags.space_prefix = kind.space_prefix;
  flags.clean_spaces = kind.clean_spaces;
  flags.escaped_spaces = kind.escaped_spaces;
  if (vocab.pre != nullptr) {
    flags.add_bos = vocab.pre->bos == BosDefault::kYes || vocab.pre->bos == BosDefault::kForced;
    flags.add_sep = vocab.pre->sep == SepDefault::kYes;
    flags.clean_spaces = vocab.pre->clean_spaces == CleanSpaces::kYes;
    flags.escaped_spaces = vocab.pre->alphabet == Alphabet::kUtf8Escaped;
  }
  flags.add_bos = data.add_bos.value_or(flags.add_bos);
  if (vocab.pre != nullptr && vocab.pre->bos == BosDefault::kForced) flags.add_bos = true;
  flags.add_eos = data.add_eos.value_or(flags.add_eos);
  flags.add_sep = data.add_sep.value_or(flags.add_sep);
  const bool has_prefix = vocab.kind == VocabKind::kSpm || vocab.kind == VocabKind::kUgm;
  flags.space_prefix = has_prefix && data.add_space_prefix.value_or(flags.space_prefix);
  flags.remove_extra_spaces = data.remove_extra_whitespaces.value_or(false);
  flags.lowercase = data.lowercase.value_or(true);
  flags.strip_accents = data.strip_accents.value_or(flags.lowercase);
  const auto need = [&](bool& flag, SpecialRole role, std::string_view what) {
    if (!flag || vocab.special(role) != kNoToken) return;
    flag = false;
    log.write(LogLevel::kWarning,
              fmt::format("the model asks for {} to be added but has no such token", what));
  };
  need(flags.add_bos, SpecialRole::kBos, "a begin token");
  need(flags.add_eos, SpecialRole::kEos, "an end token");
  need(flags.add_sep, SpecialRole::kSep, "a separator token");
}

}  // namespace

Result<Vocab> Vocab::build(VocabData data, LogSink& log) {
  Vocab vocab;
  QUIRE_ASSIGN_OR_RETURN(const KindDefaults* kind, find_kind(data.model));
  vocab.kind = kind->kind;
  vocab.special_ids.fill(kNoToken);
  if (vocab.kind == VocabKind::kNone) return vocab;
  QUIRE_RETURN_IF_ERROR(choose_pre_tokenizer(vocab, *kind, data, log));
  QUIRE_RETURN_IF_ERROR(check_lengths(vocab, data));
  QUIRE_RETURN_IF_ERROR(take_tokens(vocab, data));
  take_special_ids(vocab, *kind, data, log);
  take_flags(vocab, *kind, data, log);
  resolve_special_tokens(vocab, log);
  resolve_strip_rules(vocab, data.model_name, data.architecture, data.pre);
  return vocab;
}

}  // namespace quire::tokenizer

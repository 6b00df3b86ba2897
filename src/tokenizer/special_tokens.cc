#include "tokenizer/special_tokens.h"

#include <algorithm>
#include <cctype>

namespace quire::tokenizer {
namespace {

// Texts by which a role is found, best first.
struct RoleTexts {
  SpecialRole role;
  std::vector<std::string_view> texts;
};

const std::vector<RoleTexts>& role_texts() {
  static const std::vector<RoleTexts> rows = {
      {SpecialRole::kEot,
       {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>", "<EOT>",
        "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"}},
      {SpecialRole::kEom, {"<|eom_id|>"}},
      {SpecialRole::kFimPre,
       {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
        "<|code_prefix|>", "<|prefix|>"}},
      {SpecialRole::kFimSuf,
       {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
        "<|code_suffix|>", "<|suffix|>"}},
      {SpecialRole::kFimMid,
       {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
        "<|code_middle|>", "<|middle|>"}},
      {SpecialRole::kFimPad, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
      {SpecialRole::kFimRep, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
      {SpecialRole::kFimSep, {"<|file_sep|>"}},
  };
  return rows;
}

constexpr std::string_view kEndTexts[] = {"<|eot_id|>",
                                          "<|im_end|>",
                                          "<|end|>",
                                          "<|return|>",
                                          "<|call|>",
                                          "<|flush|>",
                                          "<|calls|>",
                                          "<end_of_turn>",
                                          "<|endoftext|>",
                                          "</s>",
                                          "<|eom_id|>",
                                          "<EOT>",
                                          "_<EOT>",
                                          "[EOT]",
                                          "[EOS]",
                                          "<|end_of_text|>",
                                          "<end_of_utterance>",
                                          "<eos>",
                                          "<turn|>",
                                          "<|tool_response>",
                                          "<｜end▁of▁sentence｜>",
                                          "[e~["};

constexpr std::string_view kHarmonyTexts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

void make_control(Vocab& vocab, TokenId id, LogSink& log) {
  TokenType& type = vocab.types[static_cast<size_t>(id)];
  if (type == TokenType::kControl) return;
  log.write(LogLevel::kDebug,
            fmt::format("token {} '{}' is used as a control token, though the file does not say so", id,
                        vocab.texts[static_cast<size_t>(id)]));
  type = TokenType::kControl;
}

void set_end(Vocab& vocab, TokenId id, bool end) {
  if (id != kNoToken) vocab.end_of_generation[static_cast<size_t>(id)] = end;
}

bool is_end(const Vocab& vocab, std::string_view text) {
  const TokenId id = vocab.index.find(text);
  return id != kNoToken && vocab.end_of_generation[static_cast<size_t>(id)];
}

void find_roles_by_text(Vocab& vocab, LogSink& log) {
  for (const RoleTexts& row : role_texts()) {
    TokenId& id = vocab.special_ids[static_cast<size_t>(row.role)];
    if (id != kNoToken) continue;
    for (const std::string_view text : row.texts) {
      id = vocab.index.find(text);
      if (id == kNoToken) continue;
      make_control(vocab, id, log);
      break;
    }
  }
}

void find_ends(Vocab& vocab, LogSink& log) {
  vocab.end_of_generation.assign(vocab.size(), false);
  for (const SpecialRole role : {SpecialRole::kEos, SpecialRole::kEot, SpecialRole::kEom,
                                 SpecialRole::kFimPad, SpecialRole::kFimRep, SpecialRole::kFimSep}) {
    set_end(vocab, vocab.special(role), true);
  }
  for (const std::string_view text : kEndTexts) {
    const TokenId id = vocab.index.find(text);
    if (id == kNoToken) continue;
    set_end(vocab, id, true);
    make_control(vocab, id, log);
  }
}

// Harmony files end a message with <|end|> in the middle of an answer, and their channel markers are part of
// the text that a parser reads.
void apply_family_exceptions(Vocab& vocab) {
  const auto has = [&](std::string_view text) { return vocab.index.find(text) != kNoToken; };
  const auto render = [&](std::string_view text) {
    const TokenId id = vocab.index.find(text);
    if (id != kNoToken) vocab.rendered[static_cast<size_t>(id)] = true;
  };
  if ((has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"))) {
    const TokenId id = vocab.index.find("<|end|>");
    if (id != kNoToken && id != vocab.special(SpecialRole::kEos)) {
      set_end(vocab, id, false);
      render("<|end|>");
    }
  }
  for (const std::string_view text : kHarmonyTexts) render(text);
  if (is_end(vocab, "<|tool_response>") || is_end(vocab, "<|plamo:eos|>")) {
    const TokenId id = vocab.index.find("</s>");
    if (id != vocab.special(SpecialRole::kEos)) set_end(vocab, id, false);
  }
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

void resolve_special_tokens(Vocab& vocab, LogSink& log) {
  vocab.rendered.assign(vocab.size(), false);
  find_roles_by_text(vocab, log);
  find_ends(vocab, log);
  apply_family_exceptions(vocab);
}

void resolve_strip_rules(Vocab& vocab, std::string_view model_name, std::string_view architecture,
                         std::string_view pre) {
  vocab.strip.assign(vocab.size(), Strip::kNone);
  const auto set = [&](std::string_view text, Strip strip) {
    const TokenId id = vocab.index.find(text);
    if (id != kNoToken) vocab.strip[static_cast<size_t>(id)] = strip;
  };
  const std::string name = lower_ascii(model_name);
  if (pre == "jina-v2-de" || pre == "jina-v2-es" || pre == "jina-v2-code" ||
      architecture == "nomic-bert-moe" || architecture == "jina-bert-v3") {
    set("<mask>", Strip::kLeft);
  }
  if (name.find("modern-bert") != std::string::npos) set("[MASK]", Strip::kLeft);
  if (name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos) {
    for (size_t i = 0; i < vocab.size(); ++i) {
      const TokenType type = vocab.types[i];
      if (type == TokenType::kControl || type == TokenType::kUserDefined || type == TokenType::kUnknown) {
        vocab.strip[i] = Strip::kRight;
      }
    }
    set("</s>", Strip::kRight);
    for (const std::string_view text : {"<unk>", "<s>", "<|endoftext|>"}) set(text, Strip::kNone);
  }
}

}  // namespace quire::tokenizer

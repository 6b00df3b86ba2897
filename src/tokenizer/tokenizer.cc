#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "tokenizer/bpe.h"
#include "tokenizer/detokenize.h"
#include "tokenizer/encode_scratch.h"
#include "tokenizer/rwkv.h"
#include "tokenizer/special_partition.h"
#include "tokenizer/spm.h"
#include "tokenizer/ugm.h"
#include "tokenizer/vocab.h"
#include "tokenizer/wpm.h"

namespace quire {

using tokenizer::VocabKind;

struct Tokenizer::State {
  explicit State(tokenizer::Vocab v) : vocab(std::move(v)), detokenizer(vocab), partition(vocab) {}

  std::string model;
  std::string pre;
  tokenizer::Vocab vocab;
  tokenizer::Detokenizer detokenizer;
  tokenizer::SpecialPartition partition;
  std::unique_ptr<tokenizer::FragmentEncoder> encoder;  // null without a vocabulary
  std::vector<TokenId> end_of_generation;
  std::vector<TokenId> suppressed;
  std::vector<ChatTemplateSource> chat_templates;
};

namespace {

Result<std::unique_ptr<tokenizer::FragmentEncoder>> make_encoder(const tokenizer::Vocab& vocab,
                                                                 const VocabData& data, LogSink& log) {
  using Encoder = std::unique_ptr<tokenizer::FragmentEncoder>;
  switch (vocab.kind) {
    case VocabKind::kNone:
      break;
    case VocabKind::kSpm:
      return Encoder(std::make_unique<tokenizer::SpmEncoder>(vocab));
    case VocabKind::kRwkv:
      return Encoder(std::make_unique<tokenizer::RwkvEncoder>(vocab));
    case VocabKind::kBpe: {
      QUIRE_ASSIGN_OR_RETURN(auto encoder, tokenizer::BpeEncoder::build(vocab, data.merges, log));
      return Encoder(std::move(encoder));
    }
    case VocabKind::kWpm: {
      QUIRE_ASSIGN_OR_RETURN(auto encoder, tokenizer::WpmEncoder::build(vocab));
      return Encoder(std::move(encoder));
    }
    case VocabKind::kUgm: {
      QUIRE_ASSIGN_OR_RETURN(auto encoder, tokenizer::UgmEncoder::build(vocab, data.charsmap));
      return Encoder(std::move(encoder));
    }
  }
  return Encoder();
}

std::vector<TokenId> valid_suppressed(std::span<const int32_t> ids, size_t n_vocab, LogSink& log) {
  std::vector<TokenId> valid;
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<size_t>(id) < n_vocab) {
      valid.push_back(id);
    } else {
      log.write(LogLevel::kWarning,
                fmt::format("tokenizer.ggml.suppress_tokens: id {} is outside the vocabulary; ignored", id));
    }
  }
  std::ranges::sort(valid);
  valid.erase(std::ranges::unique(valid).begin(), valid.end());
  return valid;
}

// Joins the segments and notes where control tokens may be found.
std::string_view join_segments(std::span<const TextSegment> segments, tokenizer::EncodeScratch& scratch) {
  scratch.parsed.clear();
  scratch.joined.clear();
  size_t at = 0;
  for (const TextSegment& segment : segments) {
    const size_t end = at + segment.text.size();
    if (segment.special == SpecialTokens::kParse && end > at) {
      if (!scratch.parsed.empty() && scratch.parsed.back().end == at) {
        scratch.parsed.back().end = end;
      } else {
        scratch.parsed.push_back({at, end});
      }
    }
    at = end;
  }
  if (segments.size() == 1) return segments[0].text;
  for (const TextSegment& segment : segments) scratch.joined.append(segment.text);
  return scratch.joined;
}

}  // namespace

TokenizerScratch::TokenizerScratch(const void* owner)
    : scratch_(std::make_unique<tokenizer::EncodeScratch>()), owner_(owner) {}
TokenizerScratch::~TokenizerScratch() = default;
TokenizerScratch::TokenizerScratch(TokenizerScratch&&) noexcept = default;
TokenizerScratch& TokenizerScratch::operator=(TokenizerScratch&&) noexcept = default;

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::load(const Metadata& metadata, LogSink& log) {
  QUIRE_ASSIGN_OR_RETURN(VocabData data, read_vocab_data(metadata));
  return build(std::move(data), log);
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::build(VocabData data, LogSink& log) {
  // What the encoder needs stays in `data`; the vocabulary takes the rest.
  VocabData kept{.merges = std::move(data.merges), .charsmap = std::move(data.charsmap)};
  std::vector<int32_t> suppress = std::move(data.suppress_tokens);
  std::vector<ChatTemplateSource> chat_templates = std::move(data.chat_templates);
  std::string model = data.model, pre = data.pre;
  QUIRE_ASSIGN_OR_RETURN(tokenizer::Vocab vocab, tokenizer::Vocab::build(std::move(data), log));
  auto state = std::make_unique<State>(std::move(vocab));
  state->model = std::move(model);
  state->pre = std::move(pre);
  QUIRE_ASSIGN_OR_RETURN(state->encoder, make_encoder(state->vocab, kept, log));
  for (size_t i = 0; i < state->vocab.size(); ++i) {
    if (state->vocab.end_of_generation[i]) state->end_of_generation.push_back(static_cast<TokenId>(i));
  }
  state->suppressed = valid_suppressed(suppress, state->vocab.size(), log);
  state->chat_templates = std::move(chat_templates);
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(state)));
}

TokenizerScratch Tokenizer::make_scratch() const { return TokenizerScratch(this); }

void Tokenizer::add_specials(std::vector<TokenId>& ids) const {
  const tokenizer::VocabFlags& flags = state_->vocab.flags;
  const TokenId bos = special(SpecialRole::kBos), eos = special(SpecialRole::kEos),
                sep = special(SpecialRole::kSep);
  const bool wpm = state_->vocab.kind == VocabKind::kWpm;
  if (bos != kNoToken && (wpm || flags.add_bos) && (ids.empty() || ids.front() != bos))
    ids.insert(ids.begin(), bos);
  const auto append = [&](TokenId id) {
    if (id != kNoToken && (ids.empty() || ids.back() != id)) ids.push_back(id);
  };
  if (wpm) {
    append(sep);
    return;
  }
  if (flags.add_eos) append(eos);
  if (flags.add_sep && !(flags.add_eos && sep == eos)) append(sep);
}

Result<std::vector<TokenId>> Tokenizer::encode(std::span<const TextSegment> segments, AddSpecial add,
                                               TokenizerScratch& scratch) const {
  QUIRE_CHECK(scratch.owner_ == this);
  if (state_->encoder == nullptr) {
    return make_error(ErrorCode::kUnsupported,
                      "tokenizer.ggml.model: '{}' has no vocabulary to encode text with", state_->model);
  }
  size_t size = 0;
  for (const TextSegment& segment : segments) size += std::min(segment.text.size(), kMaxText + 1);
  if (size > kMaxText) {
    return make_error(ErrorCode::kInvalidArgument, "text of more than {} bytes cannot be tokenized",
                      kMaxText);
  }
  tokenizer::EncodeScratch& work = *scratch.scratch_;
  const std::string_view text = join_segments(segments, work);
  state_->partition.split(text, work.parsed, work.partition);
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 2);
  for (const tokenizer::Fragment& fragment : work.partition.fragments) {
    if (fragment.token != kNoToken) {
      ids.push_back(fragment.token);
    } else {
      state_->encoder->encode(text.substr(fragment.begin, fragment.end - fragment.begin), work, ids);
    }
  }
  if (add == AddSpecial::kYes) add_specials(ids);
  return ids;
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, SpecialTokens special_tokens,
                                               AddSpecial add) const {
  TokenizerScratch scratch = make_scratch();
  const TextSegment segment{text, special_tokens};
  return encode({&segment, 1}, add, scratch);
}

std::string_view Tokenizer::piece(TokenId id, RenderSpecial special_tokens) const {
  QUIRE_CHECK(valid(id));
  if (special_tokens == RenderSpecial::kShow && is_control(id)) return token_text(id);
  return state_->detokenizer.text_piece(id);
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  for (const TokenId id : ids) {
    if (!valid(id)) {
      return make_error(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", id,
                        n_vocab());
    }
  }
  if (options.edges == EdgeTokens::kRemove) {
    if (!ids.empty() && ids.front() == special(SpecialRole::kBos)) ids = ids.subspan(1);
    const TokenId last =
        special(state_->vocab.kind == VocabKind::kWpm ? SpecialRole::kSep : SpecialRole::kEos);
    if (!ids.empty() && ids.back() == last) ids = ids.first(ids.size() - 1);
  }
  bool strip = options.leading_space == LeadingSpace::kStrip && strips_leading_space();
  std::string text;
  for (const TokenId id : ids) {
    std::string_view part = piece(id, options.special);
    if (strip && !is_control(id)) {
      if (part.starts_with(' ')) part.remove_prefix(1);
      strip = false;
    }
    text += part;
  }
  const bool clean = options.cleanup == SpaceCleanup::kAsModel && state_->vocab.flags.clean_spaces;
  return clean ? tokenizer::clean_up_spaces(text) : text;
}

size_t Tokenizer::n_vocab() const { return state_->vocab.size(); }

std::string_view Tokenizer::token_text(TokenId id) const {
  QUIRE_CHECK(valid(id));
  return state_->vocab.texts[static_cast<size_t>(id)];
}

TokenType Tokenizer::token_type(TokenId id) const {
  QUIRE_CHECK(valid(id));
  return state_->vocab.types[static_cast<size_t>(id)];
}

TokenId Tokenizer::find_token(std::string_view text) const { return state_->vocab.index.find(text); }

TokenId Tokenizer::special(SpecialRole role) const { return state_->vocab.special(role); }

bool Tokenizer::is_control(TokenId id) const {
  const TokenType type = token_type(id);
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

bool Tokenizer::is_end_of_generation(TokenId id) const {
  return valid(id) && state_->vocab.end_of_generation[static_cast<size_t>(id)];
}

std::span<const TokenId> Tokenizer::end_of_generation() const { return state_->end_of_generation; }
std::span<const TokenId> Tokenizer::suppressed() const { return state_->suppressed; }
bool Tokenizer::adds_bos() const { return state_->vocab.flags.add_bos; }
bool Tokenizer::adds_eos() const { return state_->vocab.flags.add_eos; }
bool Tokenizer::strips_leading_space() const {
  return state_->vocab.flags.space_prefix || state_->vocab.kind == VocabKind::kWpm;
}
const std::string& Tokenizer::model() const { return state_->model; }
const std::string& Tokenizer::pre() const { return state_->pre; }
std::span<const ChatTemplateSource> Tokenizer::chat_templates() const { return state_->chat_templates; }

}  // namespace quire

#include "engine/chat.h"

#include <array>
#include <span>
#include <string>
#include <utility>

namespace quire {
namespace {

constexpr std::array<std::pair<const char*, SpecialRole>, 4> kTokenVariables = {{
    {"unk_token", SpecialRole::kUnk},
    {"sep_token", SpecialRole::kSep},
    {"pad_token", SpecialRole::kPad},
    {"mask_token", SpecialRole::kMask},
}};

std::string token_text(const Tokenizer& tokenizer, SpecialRole role) {
  const TokenId id = tokenizer.special(role);
  return id == kNoToken ? std::string() : std::string(tokenizer.token_text(id));
}

// Ids of a prompt that is going to be continued: some vocabularies ask for an end token behind every text,
// which has no place here.
Result<std::vector<TokenId>> encode_open(const Tokenizer& tokenizer, std::span<const TextSegment> segments) {
  TokenizerScratch scratch = tokenizer.make_scratch();
  QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer.encode(segments, AddSpecial::kYes, scratch));
  if (tokenizer.adds_eos() && !ids.empty() && ids.back() == tokenizer.special(SpecialRole::kEos))
    ids.pop_back();
  return ids;
}

}  // namespace

Result<ChatFormat> ChatFormat::create(const Tokenizer& tokenizer) {
  const std::span<const ChatTemplateSource> sources = tokenizer.chat_templates();
  if (sources.empty())
    return ChatFormat(tokenizer, ChatTemplate::default_template(), TemplateSource::kDefault);
  const std::string name = "tokenizer.chat_template" + (sources[0].name.empty() ? "" : "." + sources[0].name);
  QUIRE_ASSIGN_OR_RETURN(ChatTemplate chat_template, ChatTemplate::parse(sources[0].source, name));
  return ChatFormat(tokenizer, std::move(chat_template), TemplateSource::kModel);
}

Result<std::vector<TokenId>> ChatFormat::prompt(TemplateInput input) const {
  QUIRE_ASSIGN_OR_RETURN(const RenderedPrompt rendered, render(std::move(input)));
  return encode(rendered);
}

Result<RenderedPrompt> ChatFormat::render(TemplateInput input) const {
  input.bos_token = token_text(*tokenizer_, SpecialRole::kBos);
  input.eos_token = token_text(*tokenizer_, SpecialRole::kEos);
  for (const auto& [name, role] : kTokenVariables) {
    std::string text = token_text(*tokenizer_, role);
    if (!text.empty()) input.special_tokens.emplace_back(name, std::move(text));
  }
  return template_.render(input);
}

Result<std::vector<TokenId>> ChatFormat::encode(const RenderedPrompt& rendered,
                                                std::string_view beginning) const {
  std::vector<TextSegment> segments;
  segments.reserve(rendered.segments.size() + 1);
  for (const PromptSegment& segment : rendered.segments) {
    segments.push_back(
        {segment.text, segment.origin == Origin::kTemplate ? SpecialTokens::kParse : SpecialTokens::kPlain});
  }
  if (!beginning.empty()) segments.push_back({beginning, SpecialTokens::kPlain});
  return encode_open(*tokenizer_, segments);
}

Result<std::vector<TokenId>> raw_prompt(const Tokenizer& tokenizer, std::string_view text) {
  const TextSegment segment{text, SpecialTokens::kParse};
  return encode_open(tokenizer, {&segment, 1});
}

}  // namespace quire

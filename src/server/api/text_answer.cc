#include "server/api/text_answer.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "server/api/usage_json.h"

namespace quire::server {
namespace {

Json envelope(const AnswerHead& head) {
  return {{"id", head.id},
          {"object", "text_completion"},
          {"created", head.created},
          {"model", head.model},
          {"system_fingerprint", "quire"}};
}

// Parts of characters are written as OpenAI does: bytes:\xe2\x82
std::string token_key(const TokenDetail& token) {
  if (complete_utf8_prefix(token.bytes) == token.bytes.size() &&
      replace_invalid_utf8(token.bytes) == token.bytes)
    return token.bytes;
  std::string key = "bytes:";
  for (const char c : token.bytes) key += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  return key;
}

// Characters that begin in `bytes`.
int64_t count_characters(std::string_view bytes) {
  int64_t n = 0;
  for (const char c : bytes) n += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return n;
}

// `offset`: characters of the text before these tokens; moved on.
Json legacy_logprobs(const AnswerStyle& style, std::span<const TokenDetail> tokens, int64_t& offset) {
  if (!style.logprobs) return nullptr;
  Json texts = Json::array(), logprobs = Json::array(), tops = Json::array(), offsets = Json::array();
  for (const TokenDetail& token : tokens) {
    texts.push_back(token_key(token));
    offsets.push_back(offset);
    offset += count_characters(token.bytes);
    if (std::isnan(token.logprob)) {  // the first of a prompt: nothing predicts it
      logprobs.push_back(nullptr);
      tops.push_back(nullptr);
      continue;
    }
    logprobs.push_back(finite_logprob(token.logprob));
    Json top = Json::object();
    for (const TokenDetail& other : token.top) top[token_key(other)] = finite_logprob(other.logprob);
    top[token_key(token)] = finite_logprob(token.logprob);
    tops.push_back(std::move(top));
  }
  return {{"tokens", std::move(texts)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

class TextStream final : public AnswerWriter {
 public:
  TextStream(AnswerHead head, const AnswerStyle& style, size_t n_choices, std::shared_ptr<Reply> reply)
      : head_(std::move(head)), style_(style), offsets_(n_choices), sink_(std::move(reply)) {}

  void delta(size_t choice, Delta delta) override {
    chunk(choice, std::move(delta.text), delta.tokens, nullptr);
  }
  void choice_end(size_t choice, const ChoiceEnd& end) override {
    chunk(choice, "", {}, finish_reason_text(end.reason));
  }
  void finish(const Accounting& accounting) override {
    if (style_.usage == StreamUsage::kInclude) {
      Json last = envelope(head_);
      last["choices"] = Json::array();
      last["usage"] = usage_json(accounting);
      sink_.data(last);
    }
    sink_.data_text("[DONE]");
    sink_.finish();
  }
  void fail(const ApiError& error) override { sink_.fail(error, ErrorStyle::kOpenAi); }

 private:
  void chunk(size_t choice, std::string text, std::span<const TokenDetail> tokens, Json finish_reason) {
    Json json = envelope(head_);
    json["choices"] = Json::array(
        {{{"index", choice},
          {"text", std::move(text)},
          {"logprobs", tokens.empty() ? Json() : legacy_logprobs(style_, tokens, offsets_[choice])},
          {"finish_reason", std::move(finish_reason)}}});
    if (style_.usage == StreamUsage::kInclude) json["usage"] = nullptr;
    sink_.data(json);
  }

  AnswerHead head_;
  AnswerStyle style_;
  std::vector<int64_t> offsets_;  // by choice
  EventSink sink_;
};

class TextWhole final : public AnswerCollector {
 public:
  TextWhole(AnswerHead head, const AnswerStyle& style, size_t n_choices, std::shared_ptr<Reply> reply)
      : AnswerCollector(std::move(reply), n_choices, ErrorStyle::kOpenAi),
        head_(std::move(head)),
        style_(style) {}

 private:
  Json body(const std::vector<CollectedChoice>& choices, const Accounting& accounting) const override {
    Json json = envelope(head_);
    json["choices"] = Json::array();
    for (size_t i = 0; i < choices.size(); ++i) {
      int64_t offset = 0;
      json["choices"].push_back({{"index", i},
                                 {"text", choices[i].content},
                                 {"logprobs", legacy_logprobs(style_, choices[i].tokens, offset)},
                                 {"finish_reason", finish_reason_text(choices[i].end.reason)}});
    }
    json["usage"] = usage_json(accounting);
    json["seed"] = head_.seed;
    return json;
  }

  AnswerHead head_;
  AnswerStyle style_;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_text_writer(AnswerHead head, const AnswerStyle& style, size_t n_choices,
                                               std::shared_ptr<Reply> reply) {
  if (style.delivery == Delivery::kStream)
    return std::make_unique<TextStream>(std::move(head), style, n_choices, std::move(reply));
  return std::make_unique<TextWhole>(std::move(head), style, n_choices, std::move(reply));
}

}  // namespace quire::server

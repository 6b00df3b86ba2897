#include "server/api/chat_answer.h"

#include <utility>
#include <vector>

#include "server/api/usage_json.h"

namespace quire::server {
namespace {

constexpr const char* kFingerprint = "quire";

Json envelope(const AnswerHead& head, const char* object) {
  return {{"id", head.id},
          {"object", object},
          {"created", head.created},
          {"model", head.model},
          {"system_fingerprint", kFingerprint}};
}

Json logprobs_json(const AnswerStyle& style, std::span<const TokenDetail> tokens) {
  if (!style.logprobs) return nullptr;
  return {{"content", token_details_json(tokens)}, {"refusal", nullptr}};
}

class ChatStream final : public AnswerWriter {
 public:
  ChatStream(AnswerHead head, const AnswerStyle& style, size_t n_choices, std::shared_ptr<Reply> reply)
      : head_(std::move(head)), style_(style), choices_(n_choices), sink_(std::move(reply)) {}

  void delta(size_t choice, Delta delta) override {
    begin(choice);
    switch (delta.kind) {
      case DeltaKind::kContent:
        return chunk(choice, {{"content", std::move(delta.text)}}, delta.tokens);
      case DeltaKind::kReasoning:
        return chunk(choice, {{"reasoning_content", std::move(delta.text)}}, delta.tokens);
      case DeltaKind::kToolCall:
        return tool_call(choice, std::move(delta));
      case DeltaKind::kState:
        return;
    }
  }

  void choice_end(size_t choice, const ChoiceEnd& end) override {
    begin(choice);
    chunk(choice, Json::object(), {}, finish_reason_text(end.reason));
  }

  void finish(const Accounting& accounting) override {
    if (style_.usage == StreamUsage::kInclude) {
      Json last = envelope(head_, "chat.completion.chunk");
      last["choices"] = Json::array();
      last["usage"] = usage_json(accounting);
      last["timings"] = timings_json(accounting);
      sink_.data(last);
    }
    sink_.data_text("[DONE]");
    sink_.finish();
  }

  void fail(const ApiError& error) override { sink_.fail(error, ErrorStyle::kOpenAi); }

 private:
  struct ChoiceState {
    bool begun = false;
    int n_calls = 0;
  };

  void begin(size_t choice) {
    if (std::exchange(choices_[choice].begun, true)) return;
    chunk(choice, {{"role", "assistant"}, {"content", nullptr}}, {});
  }

  void tool_call(size_t choice, Delta delta) {
    const int index = choices_[choice].n_calls++;
    Json call = {{"index", index},
                 {"id", delta.call.id},
                 {"type", "function"},
                 {"function", {{"name", delta.call.name}, {"arguments", ""}}}};
    chunk(choice, {{"tool_calls", Json::array({std::move(call)})}}, delta.tokens);
    Json arguments = {{"index", index}, {"function", {{"arguments", delta.call.arguments}}}};
    chunk(choice, {{"tool_calls", Json::array({std::move(arguments)})}}, {});
  }

  void chunk(size_t choice, Json delta, std::span<const TokenDetail> tokens, Json finish_reason = nullptr) {
    Json json = envelope(head_, "chat.completion.chunk");
    json["choices"] = Json::array({{{"index", choice},
                                    {"delta", std::move(delta)},
                                    {"logprobs", tokens.empty() ? Json() : logprobs_json(style_, tokens)},
                                    {"finish_reason", std::move(finish_reason)}}});
    if (style_.usage == StreamUsage::kInclude) json["usage"] = nullptr;
    sink_.data(json);
  }

  AnswerHead head_;
  AnswerStyle style_;
  std::vector<ChoiceState> choices_;
  EventSink sink_;
};

class ChatWhole final : public AnswerCollector {
 public:
  ChatWhole(AnswerHead head, const AnswerStyle& style, size_t n_choices, std::shared_ptr<Reply> reply)
      : AnswerCollector(std::move(reply), n_choices, ErrorStyle::kOpenAi),
        head_(std::move(head)),
        style_(style) {}

 private:
  Json body(const std::vector<CollectedChoice>& choices, const Accounting& accounting) const override {
    Json json = envelope(head_, "chat.completion");
    json["choices"] = Json::array();
    for (size_t i = 0; i < choices.size(); ++i) {
      json["choices"].push_back({{"index", i},
                                 {"message", message(choices[i])},
                                 {"logprobs", logprobs_json(style_, choices[i].tokens)},
                                 {"finish_reason", finish_reason_text(choices[i].end.reason)}});
    }
    json["usage"] = usage_json(accounting);
    json["timings"] = timings_json(accounting);
    json["seed"] = head_.seed;
    return json;
  }

  static Json message(const CollectedChoice& choice) {
    Json message = {
        {"role", "assistant"},
        {"content", choice.content.empty() && !choice.calls.empty() ? Json() : Json(choice.content)},
        {"refusal", nullptr}};
    if (!choice.reasoning.empty()) message["reasoning_content"] = choice.reasoning;
    for (const AnsweredCall& call : choice.calls) {
      message["tool_calls"].push_back({{"id", call.id},
                                       {"type", "function"},
                                       {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
    }
    return message;
  }

  AnswerHead head_;
  AnswerStyle style_;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_chat_writer(AnswerHead head, const AnswerStyle& style, size_t n_choices,
                                               std::shared_ptr<Reply> reply) {
  if (style.delivery == Delivery::kStream)
    return std::make_unique<ChatStream>(std::move(head), style, n_choices, std::move(reply));
  return std::make_unique<ChatWhole>(std::move(head), style, n_choices, std::move(reply));
}

}  // namespace quire::server

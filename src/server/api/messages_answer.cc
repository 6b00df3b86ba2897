#include "server/api/messages_answer.h"

#include <utility>

namespace quire::server {
namespace {

Json arguments_object(const std::string& arguments) {
  Json json = Json::parse(arguments, nullptr, false);
  return json.is_object() ? json : Json::object();
}

const char* stop_reason(const ChoiceEnd& end) {
  switch (end.reason) {
    case EndReason::kLength:
      return "max_tokens";
    case EndReason::kToolCalls:
      return "tool_use";
    case EndReason::kStop:
      break;
  }
  return end.stop_string.empty() ? "end_turn" : "stop_sequence";
}

// One writer for both deliveries, as for responses.
class MessagesWriter final : public AnswerWriter {
 public:
  MessagesWriter(AnswerHead head, Delivery delivery, int64_t n_prompt, std::shared_ptr<Reply> reply)
      : head_(std::move(head)),
        delivery_(delivery),
        n_prompt_(n_prompt),
        reply_(reply),
        sink_(std::move(reply)) {}

  void delta(size_t, Delta delta) override {
    begin();
    switch (delta.kind) {
      case DeltaKind::kReasoning:
        open_block({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
        append("thinking", delta.text);
        return block_delta({{"type", "thinking_delta"}, {"thinking", delta.text}});
      case DeltaKind::kContent:
        open_block({{"type", "text"}, {"text", ""}});
        append("text", delta.text);
        return block_delta({{"type", "text_delta"}, {"text", delta.text}});
      case DeltaKind::kToolCall:
        close_block();
        open_block({{"type", "tool_use"},
                    {"id", delta.call.id},
                    {"name", delta.call.name},
                    {"input", Json::object()}});
        block_delta({{"type", "input_json_delta"}, {"partial_json", delta.call.arguments}});
        block_["input"] = arguments_object(delta.call.arguments);
        return close_block();
      case DeltaKind::kState:
        return;
    }
  }

  void choice_end(size_t, const ChoiceEnd& end) override {
    begin();
    close_block();
    end_ = end;
  }

  void finish(const Accounting& accounting) override {
    const Json usage = {{"input_tokens", accounting.prompt_tokens - accounting.cached_tokens},
                        {"cache_creation_input_tokens", 0},
                        {"cache_read_input_tokens", accounting.cached_tokens},
                        {"output_tokens", accounting.completion_tokens}};
    const Json stop_string = end_.stop_string.empty() ? Json() : Json(end_.stop_string);
    if (delivery_ == Delivery::kWhole) {
      Json json = message(usage);
      json["stop_reason"] = stop_reason(end_);
      json["stop_sequence"] = stop_string;
      return reply_->send(json_response(json));
    }
    event("message_delta", {{"delta", {{"stop_reason", stop_reason(end_)}, {"stop_sequence", stop_string}}},
                            {"usage", usage}});
    event("message_stop", Json::object());
    sink_.finish();
  }

  void fail(const ApiError& error) override { sink_.fail(error, ErrorStyle::kAnthropic); }

 private:
  void event(const char* type, const Json& members) {
    if (delivery_ == Delivery::kWhole) return;
    Json json = {{"type", type}};
    json.update(members);
    sink_.event(type, json);
  }

  Json message(const Json& usage) const {
    return {{"id", head_.id},           {"type", "message"},    {"role", "assistant"},
            {"content", content_},      {"model", head_.model}, {"stop_reason", nullptr},
            {"stop_sequence", nullptr}, {"usage", usage}};
  }

  void begin() {
    if (std::exchange(begun_, true)) return;
    event("message_start", {{"message", message({{"input_tokens", n_prompt_}, {"output_tokens", 0}})}});
  }

  void open_block(Json block) {
    if (!block_.is_null() && block_["type"] == block["type"]) return;
    close_block();
    block_ = std::move(block);
    event("content_block_start", {{"index", content_.size()}, {"content_block", block_}});
  }

  void append(const char* key, const std::string& text) { block_[key].get_ref<std::string&>() += text; }

  void block_delta(Json delta) {
    event("content_block_delta", {{"index", content_.size()}, {"delta", std::move(delta)}});
  }

  void close_block() {
    if (block_.is_null()) return;
    event("content_block_stop", {{"index", content_.size()}});
    content_.push_back(std::exchange(block_, {}));
  }

  AnswerHead head_;
  Delivery delivery_;
  int64_t n_prompt_;
  std::shared_ptr<Reply> reply_;
  EventSink sink_;
  Json content_ = Json::array();  // blocks that are done
  Json block_;                    // that is open; null = none
  ChoiceEnd end_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_messages_writer(AnswerHead head, Delivery delivery, int64_t n_prompt,
                                                   std::shared_ptr<Reply> reply) {
  return std::make_unique<MessagesWriter>(std::move(head), delivery, n_prompt, std::move(reply));
}

}  // namespace quire::server

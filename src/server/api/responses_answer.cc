#include "server/api/responses_answer.h"

#include <chrono>
#include <utility>

#include "server/api/api_call.h"

namespace quire::server {
namespace {

// One writer for both deliveries: a whole answer is the last event's response, and the others are not sent.
class ResponsesWriter final : public AnswerWriter {
 public:
  ResponsesWriter(AnswerHead head, Delivery delivery, std::shared_ptr<Reply> reply)
      : head_(std::move(head)), delivery_(delivery), reply_(reply), sink_(std::move(reply)) {}

  void delta(size_t, Delta delta) override {
    begin();
    switch (delta.kind) {
      case DeltaKind::kReasoning:
        return text(Open::kReasoning, delta.text);
      case DeltaKind::kContent:
        return text(Open::kMessage, delta.text);
      case DeltaKind::kToolCall:
        return call(delta.call);
      case DeltaKind::kState:
        return;
    }
  }

  void choice_end(size_t, const ChoiceEnd& end) override {
    begin();
    close_item();
    end_ = end;
  }

  void finish(const Accounting& accounting) override {
    const bool cut = end_.reason == EndReason::kLength;
    Json response = object(cut ? "incomplete" : "completed");
    response["completed_at"] = cut ? Json() : Json(now());
    if (cut) response["incomplete_details"] = {{"reason", "max_output_tokens"}};
    response["usage"] = {{"input_tokens", accounting.prompt_tokens},
                         {"input_tokens_details", {{"cached_tokens", accounting.cached_tokens}}},
                         {"output_tokens", accounting.completion_tokens},
                         {"output_tokens_details", {{"reasoning_tokens", accounting.reasoning_tokens}}},
                         {"total_tokens", accounting.total_tokens()}};
    if (delivery_ == Delivery::kWhole) return reply_->send(json_response(response));
    event(cut ? "response.incomplete" : "response.completed", {{"response", std::move(response)}});
    sink_.finish();
  }

  void fail(const ApiError& error) override {
    if (!sink_.begun()) return sink_.fail(error, ErrorStyle::kOpenAi);
    event("error", {{"code", http_status(error.kind)}, {"message", error.message}, {"param", nullptr}});
    sink_.finish();
  }

 private:
  enum class Open : uint8_t { kNothing, kReasoning, kMessage };

  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  void event(const char* type, Json members) {
    if (delivery_ == Delivery::kWhole) return;
    Json json = {{"type", type}, {"sequence_number", sequence_number_++}};
    json.update(members);
    sink_.event(type, json);
  }

  Json object(const char* status) const {
    return {{"id", head_.id},
            {"object", "response"},
            {"created_at", head_.created},
            {"completed_at", nullptr},
            {"status", status},
            {"error", nullptr},
            {"incomplete_details", nullptr},
            {"model", head_.model},
            {"output", output_},
            {"parallel_tool_calls", true},
            {"tool_choice", "auto"},
            {"tools", Json::array()},
            {"usage", nullptr}};
  }

  void begin() {
    if (std::exchange(begun_, true)) return;
    event("response.created", {{"response", object("in_progress")}});
    event("response.in_progress", {{"response", object("in_progress")}});
  }

  size_t index() const { return output_.size(); }  // of the open item

  Json place() const { return {{"item_id", item_["id"]}, {"output_index", index()}, {"content_index", 0}}; }

  void add_item(Json item) {
    item_ = std::move(item);
    event("response.output_item.added", {{"output_index", index()}, {"item", item_}});
  }

  void finish_item() {
    item_["status"] = "completed";
    event("response.output_item.done", {{"output_index", index()}, {"item", item_}});
    output_.push_back(std::exchange(item_, {}));
  }

  static Json part(Open kind, const std::string& text) {
    if (kind == Open::kReasoning) return {{"type", "reasoning_text"}, {"text", text}};
    return {
        {"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
  }

  void open_item(Open kind) {
    if (open_ == kind) return;
    close_item();
    open_ = kind;
    text_.clear();
    if (kind == Open::kReasoning) {
      add_item({{"id", make_id("rs_")},
                {"type", "reasoning"},
                {"summary", Json::array()},
                {"content", Json::array()},
                {"status", "in_progress"}});
    } else {
      add_item({{"id", make_id("msg_")},
                {"type", "message"},
                {"role", "assistant"},
                {"status", "in_progress"},
                {"content", Json::array()}});
    }
    Json added = place();
    added["part"] = part(kind, "");
    event("response.content_part.added", std::move(added));
  }

  void text(Open kind, const std::string& piece) {
    open_item(kind);
    text_ += piece;
    Json delta = place();
    delta["delta"] = piece;
    if (kind == Open::kMessage) delta["logprobs"] = Json::array();
    event(kind == Open::kReasoning ? "response.reasoning_text.delta" : "response.output_text.delta",
          std::move(delta));
  }

  void close_item() {
    const Open kind = std::exchange(open_, Open::kNothing);
    if (kind == Open::kNothing) return;
    Json done = place();
    done["text"] = text_;
    if (kind == Open::kMessage) done["logprobs"] = Json::array();
    event(kind == Open::kReasoning ? "response.reasoning_text.done" : "response.output_text.done",
          std::move(done));
    Json part_done = place();
    part_done["part"] = part(kind, text_);
    event("response.content_part.done", std::move(part_done));
    item_["content"] = Json::array({part(kind, text_)});
    finish_item();
  }

  void call(const AnsweredCall& call) {
    close_item();
    add_item({{"id", make_id("fc_")},
              {"type", "function_call"},
              {"status", "in_progress"},
              {"arguments", ""},
              {"call_id", call.id},
              {"name", call.name}});
    const Json where = {{"item_id", item_["id"]}, {"output_index", index()}};
    Json delta = where;
    delta["delta"] = call.arguments;
    event("response.function_call_arguments.delta", std::move(delta));
    Json done = where;
    done["name"] = call.name;
    done["arguments"] = call.arguments;
    event("response.function_call_arguments.done", std::move(done));
    item_["arguments"] = call.arguments;
    finish_item();
  }

  AnswerHead head_;
  Delivery delivery_;
  std::shared_ptr<Reply> reply_;
  EventSink sink_;
  Json output_ = Json::array();  // items that are done
  Json item_;                    // that is open
  Open open_ = Open::kNothing;
  std::string text_;  // of the open item
  ChoiceEnd end_;
  bool begun_ = false;
  int64_t sequence_number_ = 0;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_responses_writer(AnswerHead head, Delivery delivery,
                                                    std::shared_ptr<Reply> reply) {
  return std::make_unique<ResponsesWriter>(std::move(head), delivery, std::move(reply));
}

}  // namespace quire::server

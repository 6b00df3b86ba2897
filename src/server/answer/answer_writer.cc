#include "server/answer/answer_writer.h"

#include <algorithm>
#include <iterator>

namespace quire::server {

void AnswerCollector::delta(size_t choice, Delta delta) {
  CollectedChoice& at = choices_[choice];
  switch (delta.kind) {
    case DeltaKind::kContent:
      at.content += delta.text;
      break;
    case DeltaKind::kReasoning:
      at.reasoning += delta.text;
      break;
    case DeltaKind::kToolCall:
      at.calls.push_back(std::move(delta.call));
      break;
    case DeltaKind::kState:
      at.state = std::move(delta.state);
      break;
  }
  std::ranges::move(delta.tokens, std::back_inserter(at.tokens));
}

void AnswerCollector::choice_end(size_t choice, const ChoiceEnd& end) { choices_[choice].end = end; }
void AnswerCollector::finish(const Accounting& accounting) {
  reply_->send(json_response(body(choices_, accounting)));
}
void AnswerCollector::fail(const ApiError& error) { reply_->send(error_response(error, style_)); }

void EventSink::write(std::string_view text) {
  if (!begun_) {
    reply_->begin({.content_type = "text/event-stream",
                   .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}});
    begun_ = true;
  }
  reply_->write(text);
}

void EventSink::data(const Json& json) { data_text(dump(json)); }

void EventSink::data_text(std::string_view text) { write(fmt::format("data: {}\n\n", text)); }

void EventSink::event(std::string_view name, const Json& json) {
  write(fmt::format("event: {}\ndata: {}\n\n", name, dump(json)));
}

void EventSink::finish() { reply_->finish(); }

void EventSink::fail(const ApiError& error, ErrorStyle style) {
  if (!begun_) return reply_->send(error_response(error, style));
  const Json body = error_body(error, style);
  if (style == ErrorStyle::kAnthropic) {
    event("error", body);
  } else {
    data(body);
  }
  reply_->finish();
}

const char* finish_reason_text(EndReason reason) {
  switch (reason) {
    case EndReason::kStop:
      return "stop";
    case EndReason::kLength:
      return "length";
    case EndReason::kToolCalls:
      return "tool_calls";
  }
  return "";
}

}  // namespace quire::server

// AnswerWriter: turns the deltas of an answer into the bytes of one API, as a stream or as a whole.
//
// Called by the answer's task, one thread at a time. Nothing is sent before the first delta, so an error
// before it is an ordinary HTTP error. Every request ends with exactly one finish() or fail().
#pragma once

#include <memory>
#include <vector>

#include "server/answer/accounting.h"
#include "server/answer/delta.h"
#include "server/api/api_error.h"

namespace quire::server {

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual void delta(size_t choice, Delta delta) = 0;
  virtual void choice_end(size_t choice, const ChoiceEnd& end) = 0;
  virtual void finish(const Accounting& accounting) = 0;
  virtual void fail(const ApiError& error) = 0;
};

// What all answers to one request have in common.
struct AnswerHead {
  std::string id = {};
  std::string model = {};
  int64_t created = 0;  // seconds since 1970
  uint64_t seed = 0;    // that was used
};

struct CollectedChoice {
  std::string content = {};
  std::string reasoning = {};
  std::vector<AnsweredCall> calls = {};
  std::vector<TokenDetail> tokens = {};
  std::vector<float> state = {};
  ChoiceEnd end = {};
};

// The same deltas, gathered: what an answer that does not stream is made of.
class AnswerCollector : public AnswerWriter {
 public:
  AnswerCollector(std::shared_ptr<Reply> reply, size_t n_choices, ErrorStyle style)
      : reply_(std::move(reply)), choices_(n_choices), style_(style) {}
  void delta(size_t choice, Delta delta) final;
  void choice_end(size_t choice, const ChoiceEnd& end) final;
  void finish(const Accounting& accounting) final;
  void fail(const ApiError& error) final;

 protected:
  virtual Json body(const std::vector<CollectedChoice>& choices, const Accounting& accounting) const = 0;

 private:
  std::shared_ptr<Reply> reply_;
  std::vector<CollectedChoice> choices_;
  ErrorStyle style_;
};

// Server-sent events. Opens the stream with the first one.
class EventSink {
 public:
  explicit EventSink(std::shared_ptr<Reply> reply) : reply_(std::move(reply)) {}
  bool begun() const { return begun_; }
  void data(const Json& json);                          // "data: {...}\n\n"
  void event(std::string_view name, const Json& json);  // with "event: name\n" before
  void data_text(std::string_view text);                // "data: [DONE]\n\n"
  void finish();
  // An ordinary HTTP error before the first event; afterwards `event` is written and the stream ends.
  void fail(const ApiError& error, ErrorStyle style);

 private:
  void write(std::string_view text);
  std::shared_ptr<Reply> reply_;
  bool begun_ = false;
};

const char* finish_reason_text(EndReason reason);  // "stop", "length", "tool_calls"

}  // namespace quire::server

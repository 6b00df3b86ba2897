// AnswerTask: one HTTP request in the engine: submits its choices, turns their tokens into deltas, writes
// them.
//
// Runs on the worker pool whenever the engine has tokens, the client has taken what was written, or the
// client has gone (which cancels). A client that reads slowly only stops this task from taking tokens; the
// engine then pauses those sequences. Everything it points to must outlive the pool.
//
//   const auto task = std::make_shared<AnswerTask>(context, std::move(plan), reply, std::move(writer));
//   pool.schedule(task);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "server/answer/answer_writer.h"
#include "server/answer/choice_reader.h"
#include "server/metrics/server_metrics.h"
#include "server/work/worker_pool.h"

namespace quire::server {

// Whether an answer's text begins with its prompt.
enum class Echo : uint8_t { kNo, kPrompt };

struct AnswerPlan {
  struct Choice {
    size_t prompt = 0;  // index among the request's prompts
    Request request = {};
  };
  std::vector<Choice> choices = {};
  Echo echo = Echo::kNo;
  ReaderOptions reader = {};
};

// How a request ended, for metrics and log.
struct AnswerRecord {
  enum class End : uint8_t { kDone, kRefused, kFailed, kGone };
  End end = End::kDone;
  Accounting accounting = {};
  std::vector<FinishReason> reasons = {};
};

class AnswerTask final : public Task, public std::enable_shared_from_this<AnswerTask> {
 public:
  struct Context {
    Engine& engine;
    const Tokenizer& tokenizer;
    WorkerPool& pool;
    ServerMetrics& metrics;  // hears of gaps
  };
  // on_end is called once.
  AnswerTask(const Context& context, AnswerPlan plan, std::shared_ptr<Reply> reply,
             std::unique_ptr<AnswerWriter> writer, std::function<void(const AnswerRecord&)> on_end);

  void run() override;
  // Any thread: the request ends with an error as soon as it can.
  void cut();

 private:
  struct Choice {
    Choice(size_t prompt_index, const Tokenizer& tokenizer, const ReaderOptions& options, AnswerHandle answer)
        : prompt(prompt_index), reader(tokenizer, options), handle(std::move(answer)) {}
    size_t prompt;
    std::vector<int32_t> echoed = {};  // the prompt, until it has been written
    ChoiceReader reader;
    AnswerHandle handle;
    std::optional<std::chrono::steady_clock::time_point> last_token = {};
    bool text_ended = false;  // its choice_end was written
    bool ended = false;       // and the engine is done with it
  };
  enum class Progress : uint8_t { kWaiting, kEnded };

  std::optional<ApiError> submit();
  Progress pump();
  std::optional<ApiError> advance(size_t index);
  void write_prompt(size_t index);
  void note_gap(Choice& choice);
  std::vector<TokenDetail> details_of(std::span<const TokenLogprob> top) const;
  void write(size_t index, std::vector<Delta>& deltas);
  void end_choice(size_t index, EndReason reason);
  Accounting accounting() const;
  void close(AnswerRecord::End end);

  Context context_;
  AnswerPlan plan_;
  std::shared_ptr<Reply> reply_;
  std::unique_ptr<AnswerWriter> writer_;
  std::function<void(const AnswerRecord&)> on_end_;
  std::vector<Choice> choices_;
  std::vector<Delta> deltas_;
  std::atomic<bool> cut_{false};
  std::shared_ptr<AnswerTask> self_;  // from submission to the end, while others only point here weakly
  bool submitted_ = false;
  bool closed_ = false;
};

}  // namespace quire::server

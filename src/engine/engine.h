// Engine: answers to many requests at once, over one model.
//
// Owns the Runner and one thread, which alone touches model and memory: it receives requests, schedules a
// step, runs it and publishes the tokens. Every request ends exactly once, with a reason; what becomes of one
// changes no bit of another's answer, which depends on its own prompt, settings and seed only. A step
// allocates nothing. submit(), gauges() and the handles may be used from any thread; a handle by one at a
// time.
//
//   QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::create(std::move(runner), {}));
//   QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine->submit({.prompt = ids, .settings = settings}));
//   while (auto tokens = answer.next(); !tokens.empty()) ...
//   answer.outcome().reason ...
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "engine/answer_memory.h"
#include "engine/answer_stream.h"
#include "engine/engine_events.h"
#include "engine/page_map.h"
#include "engine/request.h"
#include "engine/request_table.h"
#include "engine/runner.h"
#include "sampling/sampler.h"

namespace quire {

// Sees the rows that tokens are sampled from, on the engine's thread: for proofs that they are the same
// however a request was run.
class LogitsObserver {
 public:
  virtual ~LogitsObserver() = default;
  // logits: [n_vocab], of the token at `position` of the request with this tag.
  virtual void on_logits(uint64_t tag, int64_t position, std::span<const float> logits) = 0;
};

struct EngineOptions {
  int32_t max_queued = 1024;             // requests that are not running yet
  int32_t max_queued_per_tenant = 1024;  // of those, of one tenant
  int32_t n_tenants = 1;
  std::chrono::milliseconds max_token_gap{100};  // that prompts may cause between a stream's tokens; 0 = any
  std::chrono::milliseconds ageing{10000};       // after which a waiting request rises by one priority
  int64_t decode_reserve = 64;  // tokens of answer for which there is room when a request starts
  Preemption preemption = Preemption::kCheaper;  // other than that: for proofs
  int64_t max_unread =
      256;  // tokens a reader may be behind before its stream, alone, pauses; 0 = the whole answer
  std::vector<int32_t> end_tokens = {};  // that end an answer (Tokenizer::is_end_of_generation)
  int32_t n_vocab = 0;                   // ids that may be sampled; 0 = every row of logits
  LogitsObserver* observer = nullptr;    // must outlive the engine
  EngineEvents* events = nullptr;        // likewise
};

struct EngineGauges {
  int32_t queued = 0, running = 0;
  ScheduleCounters schedule = {};
  MemoryGauges memory = {};
  StepCost cost = {};
  size_t answer_bytes = 0;  // of EngineSettings::answer_bytes, taken now
  int64_t argmax_rows = 0;  // tokens that the vocabulary's layer chose (the optimisation `head-argmax`)
};

class AnswerHandle;

class Engine {
 public:
  // Errors: kInvalidArgument (an option out of range; fewer tokens in a step than sequences).
  static Result<std::unique_ptr<Engine>> create(std::unique_ptr<Runner> runner, const EngineOptions& options);
  // Cancels what has not ended.
  ~Engine();

  // Errors, before anything runs: kInvalidArgument (empty prompt, id outside the vocabulary, settings or
  // tenant out of range, more memory for the answer than EngineSettings::answer_bytes), kContextLength
  // (prompt and one more token do not fit), kUnsupported (the prompt is to be read, and
  // EngineSettings::prompt_rows is 0), kResourceExhausted (the queue is full, or the memory for answers),
  // kCancelled (shutting down).
  Result<AnswerHandle> submit(Request request);

  // Refuses new requests and returns when all others have ended.
  void drain();

  EngineGauges gauges() const;  // after the last step
  PageMap page_map() const;     // after the step that followed the last call, at first empty
  const Model& model() const { return runner_->model(); }
  int32_t max_sequences() const { return runner_->settings().max_sequences; }  // that run side by side
  int64_t max_length() const { return max_length_; }  // of prompt and answer, in tokens

 private:
  friend class AnswerHandle;
  struct Inbox;
  struct Job;

  Engine(std::unique_ptr<Runner> runner, const EngineOptions& options);
  Status check(const Request& request) const;
  int64_t answer_limit(const Request& request) const;
  Result<std::shared_ptr<Job>> make_job(Request&& request, int64_t max_answer);
  SamplingSettings without_ends(const GenerationSettings& settings) const;
  bool ends_answer(const GenerationSettings& settings, int32_t id) const;

  void work();
  bool receive();
  const BatchPlan& schedule();
  // The plan that was run; null when nothing was.
  const BatchPlan* run(const BatchPlan& plan);
  void publish(const BatchPlan& plan);
  Status step(const BatchPlan& plan);

  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void end_cancelled_and_late();
  void pause_and_resume();
  void sample();
  void read_prompts(const BatchPlan& plan);
  void end_readers(const BatchPlan& plan);
  void note_gauges();
  // To EngineOptions::events.
  void tell_step(const BatchPlan& plan, EngineTime end) const;
  void tell_end(const Job& job, const Outcome& outcome) const;
  void deliver(Job& job, const Result<SampledToken>& sampled);
  void end(Job& job, FinishReason reason, std::optional<Error> error = {});
  EngineTime now() const;
  Job& job_at(int32_t slot);

  std::unique_ptr<Runner> runner_;
  EngineOptions options_;
  int64_t max_length_ = 0;
  int32_t n_vocab_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::shared_ptr<Inbox> inbox_;  // shared with the handles
  std::shared_ptr<AnswerMemory> answer_memory_;

  // Of the engine's thread.
  std::optional<RequestTable> table_;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::vector<std::shared_ptr<Job>> arrived_;
  std::vector<BatchItem> items_;
  std::vector<int32_t> sampled_slots_;
  std::vector<int64_t> sampled_rows_;  // of logits, parallel to it
  std::vector<int64_t> first_rows_;    // of logits, by row of the plan; -1 where none
  struct PromptRow {
    Job* job;
    int64_t position, row;
  };
  std::vector<PromptRow> prompt_rows_;
  std::vector<Result<SampledToken>> samples_;
  int64_t argmax_rows_ = 0;
  bool went_forward_ = false;  // in the last round
  EngineTime step_start_{0}, next_look_{0};

  std::unique_ptr<PageMapBoard> page_map_board_ = std::make_unique<PageMapBoard>();
  mutable std::mutex gauges_mutex_;
  EngineGauges gauges_;
  std::thread thread_;
};

// The asker's end of a request. Letting go of it cancels what has not ended; it may outlive the engine.
class AnswerHandle {
 public:
  AnswerHandle(AnswerHandle&&) = default;
  AnswerHandle& operator=(AnswerHandle&& other);
  ~AnswerHandle();

  // Tokens not handed out before, some or all, valid until the next call of one of the two: waits for one or
  // the end, an empty span.
  std::span<const SampledToken> next();
  // The same without waiting: an empty span where there is none now.
  std::span<const SampledToken> take();
  // The likeliest tokens at the place of `token`, which is one of those handed out last:
  // [GenerationSettings::top_logprobs].
  std::span<const TokenLogprob> top(const SampledToken& token) const;
  // What was read of the prompt: once there is a token, or ended() without an error.
  const PromptRecord& prompt() const;
  bool ended() const;
  const Outcome& outcome() const;  // once ended()
  // The answer ends soon, if it has not already; any number of times, in any phase.
  void cancel();

 private:
  friend class Engine;
  AnswerHandle(std::shared_ptr<Engine::Job> job, std::shared_ptr<Engine::Inbox> inbox)
      : job_(std::move(job)), inbox_(std::move(inbox)) {}
  void wake_if_paused();

  std::shared_ptr<Engine::Job> job_;
  std::shared_ptr<Engine::Inbox> inbox_;
};

}  // namespace quire

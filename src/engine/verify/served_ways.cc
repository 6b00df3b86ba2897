#include "engine/verify/served_ways.h"

#include <mutex>

#include "engine/engine.h"

namespace quire::verify {
namespace {

// Requests of strangers have tags from here on.
constexpr uint64_t kStranger = uint64_t{1} << 32;

// Writes down the rows of requests whose tag is the index of a trace.
class Recorder final : public LogitsObserver {
 public:
  explicit Recorder(size_t n) : traces_(n) {}
  // While it lives no request gets a token: those handed in meanwhile arrive together.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  void on_logits(uint64_t tag, int64_t position, std::span<const float> logits) override {
    const std::lock_guard lock(mutex_);
    if (tag < traces_.size()) traces_[tag].set(position, logits);
  }
  std::vector<Trace> take() { return std::move(traces_); }

 private:
  std::mutex mutex_;
  std::vector<Trace> traces_;
};

std::vector<int32_t> wait_for(AnswerHandle& answer) {
  std::vector<int32_t> ids;
  for (auto tokens = answer.next(); !tokens.empty(); tokens = answer.next()) {
    for (const SampledToken& token : tokens) ids.push_back(token.id);
  }
  return ids;
}

// Answers go into the traces; those of requests that failed stay short.
Status finish(Engine& engine, Recorder& recorder, std::vector<AnswerHandle>& answers, WayResult& result) {
  std::vector<std::vector<int32_t>> ids;
  for (AnswerHandle& answer : answers) {
    ids.push_back(wait_for(answer));
    if (answer.outcome().error) return *answer.outcome().error;
  }
  engine.drain();
  result.traces = recorder.take();
  for (size_t i = 0; i < ids.size(); ++i) result.traces[i].answer = std::move(ids[i]);
  return {};
}

Request stranger(uint32_t seed, size_t n_prompt, int64_t n_answer, int64_t n_vocab) {
  Request request{.prompt = random_tokens(seed, n_prompt, n_vocab),
                  .settings = {.seed = seed, .max_tokens = n_answer, .end_tokens = EndTokens::kIgnore},
                  .tag = kStranger + seed};
  return request;
}

Request request_of(const Case& of, uint64_t tag) {
  return {.prompt = of.prompt, .settings = of.settings, .tag = tag};
}

}  // namespace

Result<WayResult> served_among_strangers(std::unique_ptr<Runner> runner, std::span<const Case> cases) {
  Recorder recorder(cases.size());
  const int64_t n_vocab = runner->model().n_vocab();
  QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                         Engine::create(std::move(runner), {.observer = &recorder}));
  std::unique_lock together = recorder.hold();
  std::vector<AnswerHandle> answers, others;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (uint32_t s = 0; s < 3; ++s) {
      const auto seed = static_cast<uint32_t>(100 + 3 * i + s);
      QUIRE_ASSIGN_OR_RETURN(AnswerHandle other,
                             engine->submit(stranger(seed, 20 + 17 * s, 10 + 9 * s, n_vocab)));
      others.push_back(std::move(other));
    }
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine->submit(request_of(cases[i], i)));
    answers.push_back(std::move(answer));
  }
  together.unlock();
  for (AnswerHandle& other : others) wait_for(other);
  WayResult result;
  QUIRE_RETURN_IF_ERROR(finish(*engine, recorder, answers, result));
  const ScheduleCounters counters = engine->gauges().schedule;
  result.count = std::max<int64_t>(0, counters.stream_rows - counters.steps);
  return result;
}

Result<WayResult> served_burst(std::unique_ptr<Runner> runner, std::span<const Case> cases) {
  Recorder recorder(cases.size());
  QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                         Engine::create(std::move(runner), {.observer = &recorder}));
  std::unique_lock together = recorder.hold();
  std::vector<AnswerHandle> answers, others;
  for (size_t i = 0; i < cases.size(); ++i) {
    // A copy goes first and computes the prefix, the case waits for it.
    for (uint32_t copy = 0; copy < 3; ++copy) {
      Request request = request_of(cases[i], kStranger);
      request.prompt.push_back(static_cast<int32_t>(copy));
      QUIRE_ASSIGN_OR_RETURN(AnswerHandle other, engine->submit(std::move(request)));
      others.push_back(std::move(other));
    }
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine->submit(request_of(cases[i], i)));
    answers.push_back(std::move(answer));
  }
  together.unlock();
  for (AnswerHandle& other : others) wait_for(other);
  WayResult result;
  QUIRE_RETURN_IF_ERROR(finish(*engine, recorder, answers, result));
  result.count = engine->gauges().schedule.prefix_waits;
  return result;
}

// Three strangers of 62 tokens and a case of 66 to 75 take four and five pages each and one more soon after;
// there are just as many. The next page that anyone needs costs the youngest its own, and that is the case.
namespace {
constexpr size_t kTakerPrompt = 62;
constexpr int64_t kTakerAnswer = 40, kTakers = 3, kReserve = 4;
}  // namespace

int64_t pages_for_preemption() {
  const int64_t taker = pages_for(static_cast<int64_t>(kTakerPrompt) + kReserve);
  return kTakers * taker + pages_for(75 + kReserve);
}

Result<WayResult> served_preempted(std::unique_ptr<Runner> runner, std::span<const Case> cases,
                                   Preemption preemption) {
  Recorder recorder(cases.size());
  const int64_t n_vocab = runner->model().n_vocab();
  QUIRE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Engine> engine,
      Engine::create(
          std::move(runner),
          {.decode_reserve = kReserve, .preemption = preemption, .max_unread = 0, .observer = &recorder}));
  WayResult result;
  std::vector<AnswerHandle> answers;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::unique_lock together = recorder.hold();
    std::vector<AnswerHandle> takers;
    for (uint32_t s = 0; s < kTakers; ++s) {
      const auto seed = static_cast<uint32_t>(200 + kTakers * i + s);
      QUIRE_ASSIGN_OR_RETURN(AnswerHandle taker,
                             engine->submit(stranger(seed, kTakerPrompt, kTakerAnswer, n_vocab)));
      takers.push_back(std::move(taker));
    }
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine->submit(request_of(cases[i], i)));
    together.unlock();
    for (AnswerHandle& taker : takers) wait_for(taker);
    answers.push_back(std::move(answer));
  }
  QUIRE_RETURN_IF_ERROR(finish(*engine, recorder, answers, result));
  for (const AnswerHandle& answer : answers) result.count += answer.outcome().usage.preemptions;
  const EngineGauges gauges = engine->gauges();
  result.count = std::min(result.count, preemption == Preemption::kSpill
                                            ? gauges.memory.restores
                                            : gauges.schedule.preemptions - gauges.schedule.spills);
  return result;
}

}  // namespace quire::verify

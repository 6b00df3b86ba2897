#include "engine/served_bench.h"

#include <algorithm>
#include <random>

#include "engine/served_watch.h"
#include "measure/statistics.h"

namespace quire {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

void append_random(std::vector<int32_t>& ids, int64_t n, uint32_t seed, int64_t n_vocab) {
  std::minstd_rand random(seed);
  for (int64_t i = 0; i < n; ++i)
    ids.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(n_vocab)));
}

}  // namespace

ServedBench::ServedBench(std::unique_ptr<Watch> watch, std::unique_ptr<Engine> engine)
    : watch_(std::move(watch)), engine_(std::move(engine)) {}
ServedBench::ServedBench(ServedBench&&) noexcept = default;
ServedBench::~ServedBench() = default;

Result<ServedBench> ServedBench::create(std::unique_ptr<Runner> runner) {
  auto watch = std::make_unique<Watch>(runner->memory_module());
  const EngineOptions options = {.max_queued = 4096, .max_unread = 0, .observer = watch.get()};
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::create(std::move(runner), options));
  return ServedBench(std::move(watch), std::move(engine));
}

// Every run has a trust domain of its own, or, without sharing, every request: nothing is left from before.
Result<Request> ServedBench::request(const ServedTest& test, int32_t i) const {
  Request request{.settings = {.max_tokens = test.n_answer, .end_tokens = EndTokens::kIgnore}};
  request.settings.sampling.temperature = 0;
  request.settings.sampling.logprob = Logprob::kSkip;
  const int64_t n_vocab = engine_->model().n_vocab();
  append_random(request.prompt, test.n_shared, 1, n_vocab);
  append_random(request.prompt, test.n_prompt - test.n_shared, static_cast<uint32_t>(1000 + i), n_vocab);
  const std::string domain = test.sharing == PrefixSharing::kOn ? fmt::format("run {}", n_runs_)
                                                                : fmt::format("run {} {}", n_runs_, i);
  QUIRE_ASSIGN_OR_RETURN(request.scope, PrefixScope::create(domain));
  return request;
}

Result<ServedResult> ServedBench::run(const ServedTest& test) {
  if (test.n_answer < 1 || test.n_prompt < 1 || test.n_shared > test.n_prompt) {
    return make_error(ErrorCode::kInvalidArgument,
                      "prompts of {} tokens, {} of them shared, and answers of {}: expected at least one of "
                      "each, and no more shared than there are",
                      test.n_prompt, test.n_shared, test.n_answer);
  }
  ++n_runs_;
  std::unique_lock together = watch_->begin(test.n_prompt, test.n_answer, test.batch);
  const Clock::time_point start = Clock::now();
  std::vector<AnswerHandle> answers;
  for (int32_t i = 0; i < test.batch; ++i) {
    QUIRE_ASSIGN_OR_RETURN(Request asked, request(test, i));
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine_->submit(std::move(asked)));
    answers.push_back(std::move(answer));
  }
  together.unlock();
  ServedResult result;
  for (AnswerHandle& answer : answers) {
    while (!answer.next().empty()) continue;
  }
  const Clock::time_point end = Clock::now();
  result.kv_bytes = watch_->most_held();

  std::vector<double> first_tokens;
  for (const AnswerHandle& answer : answers) {
    const Outcome& outcome = answer.outcome();
    if (outcome.error) return *outcome.error;
    first_tokens.push_back(outcome.usage.first_token_seconds);
    result.shared_tokens += outcome.usage.reused_tokens;
    result.preemptions += outcome.usage.preemptions;
  }
  result.computed_tokens = test.batch * test.n_prompt - result.shared_tokens;
  result.first_token_p50 = spread_of(first_tokens).median;
  result.first_token_last = *std::ranges::max_element(first_tokens);
  result.total_seconds = seconds_between(start, end);
  result.prefill_tps =
      static_cast<double>(test.batch * test.n_prompt) / seconds_between(start, watch_->all_started());
  result.decode_tps = watch_->decode_tps();
  return result;
}

}  // namespace quire

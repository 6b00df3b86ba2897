#include "engine/bench_run.h"

#include <algorithm>
#include <chrono>

namespace quire {
namespace {

using Clock = std::chrono::steady_clock;

Error cancelled() { return {ErrorCode::kCancelled, "the measurement was interrupted"}; }

// Different in every sequence: pages that are equal would be kept, and read, once for all of them.
int32_t token_of(int32_t sequence, int64_t position, int64_t n_vocab) {
  uint64_t x = (static_cast<uint64_t>(sequence) << 32) + static_cast<uint64_t>(position);
  for (int round = 0; round < 2; ++round) x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
  return static_cast<int32_t>((x >> 32) % static_cast<uint64_t>(n_vocab));
}

}  // namespace

SpeedBench::SpeedBench(Runner& runner)
    : runner_(runner), tokens_(static_cast<size_t>(runner.settings().max_batch_tokens)) {}

Result<SpeedBench> SpeedBench::create(Runner& runner) {
  SpeedBench bench(runner);
  for (int32_t i = 0; i < runner.settings().max_sequences; ++i) {
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner.open());
    bench.sequences_.push_back(sequence);
  }
  return bench;
}

Result<std::vector<BenchStep>> SpeedBench::prepare(const SpeedTest& test) const {
  if (test.batch < 1 || static_cast<size_t>(test.batch) > sequences_.size()) {
    return make_error(ErrorCode::kInvalidArgument, "a batch of {} sequences, expected 1 to {}", test.batch,
                      sequences_.size());
  }
  const int64_t max_step_tokens = runner_.settings().max_batch_tokens;
  if (test.batch > max_step_tokens) {
    return make_error(ErrorCode::kInvalidArgument, "a batch of {} sequences and steps of {} tokens",
                      test.batch, max_step_tokens);
  }
  if (test.depth + test.n_tokens > runner_.model().ctx()) {
    return make_error(ErrorCode::kContextLength, "{} tokens at a depth of {} are more than the context of {}",
                      test.n_tokens, test.depth, runner_.model().ctx());
  }
  return bench_steps(test, max_step_tokens);
}

Status SpeedBench::fill(const SpeedTest& test, KeepGoing keep_going) {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const bool used = i < static_cast<size_t>(test.batch);
    const int64_t held = runner_.length(sequences_[i]);
    const int64_t wanted = used ? test.depth : 0;
    if (held > wanted) runner_.truncate(sequences_[i], wanted);
  }
  // The same tokens come again: known pages would take the place of those just written.
  runner_.memory_module().clear_cache();
  for (int32_t i = 0; i < test.batch; ++i) {
    const int64_t held = runner_.length(sequences_[static_cast<size_t>(i)]);
    if (held == test.depth) continue;
    const SpeedTest rest{.n_tokens = test.depth - held, .depth = held};
    std::vector<BenchStep> steps = bench_steps(rest, runner_.settings().max_batch_tokens);
    for (BenchStep& step : steps) {
      for (BenchItem& item : step) item.sequence = i;
    }
    QUIRE_RETURN_IF_ERROR(run_steps(steps, nullptr, keep_going));
  }
  return {};
}

graph::StepShape SpeedBench::shape_of(const BenchStep& step) {
  spans_.clear();
  int64_t n_outputs = 0;
  for (const BenchItem& item : step) {
    spans_.push_back(item.span);
    n_outputs += item.logits == StepLogits::kLast ? 1 : 0;
  }
  return {.spans = spans_,
          .n_outputs = n_outputs,
          .kv_element_bytes = graph::kv_element_bytes(runner_.settings().kv_type)};
}

Status SpeedBench::run_steps(const std::vector<BenchStep>& steps, StepProfile* profile,
                             KeepGoing keep_going) {
  const int64_t n_vocab = runner_.model().n_vocab();
  for (const BenchStep& step : steps) {
    if (!keep_going()) return cancelled();
    items_.clear();
    size_t begin = 0;
    for (const BenchItem& item : step) {
      const std::span<int32_t> tokens =
          std::span(tokens_).subspan(begin, static_cast<size_t>(item.span.n_tokens));
      for (size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = token_of(item.sequence, item.span.start + static_cast<int64_t>(i), n_vocab);
      items_.push_back({.sequence = sequences_[static_cast<size_t>(item.sequence)],
                        .tokens = tokens,
                        .logits = item.logits == StepLogits::kLast ? Logits::kLast : Logits::kNone});
      begin += tokens.size();
    }
    if (profile != nullptr) profile->begin_step(shape_of(step));
    QUIRE_RETURN_IF_ERROR(runner_.step(items_));
  }
  return {};
}

Result<SpeedResult> SpeedBench::run(const SpeedTest& test, int repetitions, KeepGoing keep_going) {
  QUIRE_ASSIGN_OR_RETURN(const std::vector<BenchStep> steps, prepare(test));
  SpeedResult result{.tokens = test.n_tokens * test.batch};
  for (const BenchStep& step : steps)
    result.cost += graph::step_cost(runner_.model().program(), shape_of(step));
  for (int i = -1; i < repetitions; ++i) {
    QUIRE_RETURN_IF_ERROR(fill(test, keep_going));
    const Clock::time_point start = Clock::now();
    QUIRE_RETURN_IF_ERROR(run_steps(steps, nullptr, keep_going));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i >= 0) result.seconds.push_back(seconds);
  }
  return result;
}

Result<std::vector<ProfileRow>> SpeedBench::profile(const SpeedTest& test, KeepGoing keep_going) {
  QUIRE_ASSIGN_OR_RETURN(const std::vector<BenchStep> steps, prepare(test));
  QUIRE_RETURN_IF_ERROR(fill(test, keep_going));
  StepProfile profile(runner_.model().program());
  runner_.set_profiler(&profile);
  const Status status = run_steps(steps, &profile, keep_going);
  runner_.set_profiler(nullptr);
  if (!status.ok()) return status.error();
  return profile.rows();
}

}  // namespace quire

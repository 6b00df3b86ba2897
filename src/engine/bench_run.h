// SpeedBench: times prefill and decoding of a loaded model.
//
// Borrows the runner, all of whose sequences it takes. Tokens are pseudo-random ids, the same in every run
// and different in every sequence; nothing is sampled. One thread.
//
//   QUIRE_ASSIGN_OR_RETURN(SpeedBench bench, SpeedBench::create(*runner));
//   QUIRE_ASSIGN_OR_RETURN(SpeedResult result, bench.run({.n_tokens = 512}, 5, keep_going));
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "engine/bench_profile.h"
#include "engine/bench_steps.h"
#include "engine/runner.h"

namespace quire {

struct SpeedResult {
  std::vector<double> seconds = {};  // of each repetition
  int64_t tokens = 0;                // of one repetition, all sequences together
  graph::OpCost cost = {};           // of one repetition
};

// Asked before every step; false ends the test with kCancelled.
using KeepGoing = FunctionRef<bool()>;

class SpeedBench {
 public:
  // Errors: kResourceExhausted (a sequence is already open elsewhere).
  static Result<SpeedBench> create(Runner& runner);

  // One repetition that is not timed, then `repetitions`. Errors: kContextLength, kInvalidArgument (batch
  // over the runner's sequences), kCancelled.
  Result<SpeedResult> run(const SpeedTest& test, int repetitions, KeepGoing keep_going);

  // One repetition with a clock around every phase. Errors: as above.
  Result<std::vector<ProfileRow>> profile(const SpeedTest& test, KeepGoing keep_going);

 private:
  explicit SpeedBench(Runner& runner);
  Result<std::vector<BenchStep>> prepare(const SpeedTest& test) const;
  // Makes the first `batch` sequences hold `depth` tokens.
  Status fill(const SpeedTest& test, KeepGoing keep_going);
  Status run_steps(const std::vector<BenchStep>& steps, StepProfile* profile, KeepGoing keep_going);
  graph::StepShape shape_of(const BenchStep& step);

  Runner& runner_;
  std::vector<SequenceId> sequences_;
  std::vector<int32_t> tokens_;  // of the step
  std::vector<BatchItem> items_;
  std::vector<graph::SpanShape> spans_;
};

}  // namespace quire

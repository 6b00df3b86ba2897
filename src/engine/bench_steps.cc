#include "engine/bench_steps.h"

#include <algorithm>

#include "base/check.h"

namespace quire {
namespace {

std::vector<BenchStep> prefill_steps(const SpeedTest& test, int64_t max_step_tokens) {
  std::vector<BenchStep> steps;
  int64_t room = 0;
  for (int32_t sequence = 0; sequence < test.batch; ++sequence) {
    for (int64_t done = 0; done < test.n_tokens;) {
      if (room == 0) {
        steps.emplace_back();
        room = max_step_tokens;
      }
      const int64_t n = std::min(room, test.n_tokens - done);
      const bool last = done + n == test.n_tokens;
      steps.back().push_back({.sequence = sequence,
                              .span = {.start = test.depth + done, .n_tokens = n},
                              .logits = last ? StepLogits::kLast : StepLogits::kNone});
      done += n;
      room -= n;
    }
  }
  return steps;
}

}  // namespace

std::vector<BenchStep> bench_steps(const SpeedTest& test, int64_t max_step_tokens) {
  QUIRE_CHECK(max_step_tokens >= test.batch && test.batch > 0);
  if (test.kind == SpeedTestKind::kPrefill) return prefill_steps(test, max_step_tokens);
  std::vector<BenchStep> steps(static_cast<size_t>(test.n_tokens));
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int32_t sequence = 0; sequence < test.batch; ++sequence) {
      steps[i].push_back({.sequence = sequence,
                          .span = {.start = test.depth + static_cast<int64_t>(i), .n_tokens = 1},
                          .logits = StepLogits::kLast});
    }
  }
  return steps;
}

}  // namespace quire

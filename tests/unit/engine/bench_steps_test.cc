#include "engine/bench_steps.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

int64_t tokens_of(const BenchStep& step) {
  int64_t n = 0;
  for (const BenchItem& item : step) n += item.span.n_tokens;
  return n;
}

TEST(BenchSteps, PromptsFillEachStep) {
  const SpeedTest test{.kind = SpeedTestKind::kPrefill, .n_tokens = 25, .depth = 100, .batch = 3};
  const std::vector<BenchStep> steps = bench_steps(test, 20);
  ASSERT_EQ(steps.size(), 4u);  // 75 tokens
  for (size_t i = 0; i + 1 < steps.size(); ++i) EXPECT_EQ(tokens_of(steps[i]), 20);
  EXPECT_EQ(tokens_of(steps.back()), 15);

  // Every sequence gets its positions in order, a sequence at most once in a step, and logits at its end
  // only.
  std::vector<int64_t> next(3, 100);
  int n_logits = 0;
  for (const BenchStep& step : steps) {
    int32_t previous = -1;
    for (const BenchItem& item : step) {
      EXPECT_GT(item.sequence, previous);
      previous = item.sequence;
      int64_t& position = next[static_cast<size_t>(item.sequence)];
      EXPECT_EQ(item.span.start, position);
      position += item.span.n_tokens;
      EXPECT_EQ(item.logits == StepLogits::kLast, position == 125);
      n_logits += item.logits == StepLogits::kLast ? 1 : 0;
    }
  }
  EXPECT_EQ(next, std::vector<int64_t>(3, 125));
  EXPECT_EQ(n_logits, 3);
}

TEST(BenchSteps, DecodingTakesATokenOfEach) {
  const SpeedTest test{.kind = SpeedTestKind::kDecode, .n_tokens = 4, .depth = 7, .batch = 5};
  const std::vector<BenchStep> steps = bench_steps(test, 512);
  ASSERT_EQ(steps.size(), 4u);
  for (size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(steps[i].size(), 5u);
    for (const BenchItem& item : steps[i]) {
      EXPECT_EQ(item.span.start, 7 + static_cast<int64_t>(i));
      EXPECT_EQ(item.span.n_tokens, 1);
      EXPECT_EQ(item.logits, StepLogits::kLast);
    }
  }
}

}  // namespace
}  // namespace quire

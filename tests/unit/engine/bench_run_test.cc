#include "engine/bench_run.h"

#include <gtest/gtest.h>

#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

constexpr const char* kModel = "llama/model-f32.gguf";

constexpr auto always = [] { return true; };

TEST(SpeedBench, CountsAndTimesEachRepetition) {
  const std::unique_ptr<Runner> runner =
      testing::load(kModel, {.ctx = 64, .max_sequences = 3, .max_batch_tokens = 16});
  ASSERT_NE(runner, nullptr);
  Result<SpeedBench> bench = SpeedBench::create(*runner);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  for (SpeedTestKind kind : {SpeedTestKind::kPrefill, SpeedTestKind::kDecode}) {
    const int64_t before = runner->n_steps();
    const Result<SpeedResult> result =
        bench->run({.kind = kind, .n_tokens = 20, .depth = 5, .batch = 2}, 3, always);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->seconds.size(), 3u);
    for (double seconds : result->seconds) EXPECT_GT(seconds, 0);
    EXPECT_EQ(result->tokens, 40);
    EXPECT_GT(result->cost.operations(), 0);
    // Four repetitions, the first not timed: 3 steps for 40 tokens in steps of 16, or 20 single ones; and
    // what brings the sequences to their depth.
    const int64_t steps = kind == SpeedTestKind::kPrefill ? 3 : 20;
    EXPECT_GE(runner->n_steps() - before, 4 * steps);
    EXPECT_LE(runner->n_steps() - before, 4 * steps + 2);
  }
}

// Otherwise many sequences would read the pages of one.
TEST(SpeedBench, SequencesShareNoPages) {
  const std::unique_ptr<Runner> runner =
      testing::load(kModel, {.ctx = 128, .max_sequences = 4, .max_batch_tokens = 64});
  ASSERT_NE(runner, nullptr);
  Result<SpeedBench> bench = SpeedBench::create(*runner);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  const SpeedTest test{.kind = SpeedTestKind::kDecode, .n_tokens = 40, .depth = 64, .batch = 4};
  ASSERT_TRUE(bench->run(test, 1, always).ok());
  EXPECT_EQ(runner->memory_module().gauges().groups[0].held, 4 * pages_for(64 + 40));
}

// A repetition that finds its pages known would read those of the one before.
TEST(SpeedBench, RepetitionsShareNoPages) {
  const std::unique_ptr<Runner> runner =
      testing::load(kModel, {.ctx = 128, .max_sequences = 4, .max_batch_tokens = 64});
  ASSERT_NE(runner, nullptr);
  Result<SpeedBench> bench = SpeedBench::create(*runner);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  ASSERT_TRUE(bench->run({.n_tokens = 64, .batch = 2}, 3, always).ok());
  EXPECT_EQ(runner->memory_module().gauges().pages_merged, 0);
}

TEST(SpeedBench, ProfilesEveryPhase) {
  const std::unique_ptr<Runner> runner = testing::load(kModel, {.ctx = 64, .max_batch_tokens = 16});
  ASSERT_NE(runner, nullptr);
  Result<SpeedBench> bench = SpeedBench::create(*runner);
  ASSERT_TRUE(bench.ok());
  const SpeedTest test{.n_tokens = 16};
  const Result<std::vector<ProfileRow>> rows = bench->profile(test, always);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  const Result<SpeedResult> result = bench->run(test, 1, always);
  ASSERT_TRUE(result.ok());
  graph::OpCost sum;
  int64_t attention_calls = 0;
  for (const ProfileRow& row : *rows) {
    sum += row.cost;
    EXPECT_GE(row.seconds, 0);
    if (row.op == "attention") attention_calls += row.calls;
  }
  EXPECT_EQ(attention_calls, static_cast<int64_t>(runner->model().program().kv_layers.size()));
  EXPECT_DOUBLE_EQ(sum.operations(), result->cost.operations());
  EXPECT_DOUBLE_EQ(sum.memory_bytes, result->cost.memory_bytes);
}

TEST(SpeedBench, RefusesWhatDoesNotFit) {
  const std::unique_ptr<Runner> runner =
      testing::load(kModel, {.ctx = 64, .max_sequences = 2, .max_batch_tokens = 16});
  ASSERT_NE(runner, nullptr);
  Result<SpeedBench> bench = SpeedBench::create(*runner);
  ASSERT_TRUE(bench.ok());
  EXPECT_EQ(bench->run({.n_tokens = 60, .depth = 5}, 1, always).error().code, ErrorCode::kContextLength);
  EXPECT_EQ(bench->run({.n_tokens = 6, .batch = 3}, 1, always).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bench->run({.n_tokens = 6}, 1, [] { return false; }).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace quire

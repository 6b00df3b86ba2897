// The clock of steps: it finds the costs behind what it sees, follows changes, and forgets nothing it
// has no news of.
#include "engine/step_cost.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

StepTime step(const StepCost& truth, int64_t streams, int64_t prompt) {
  return {.n_streams = streams,
          .n_prompt_tokens = prompt,
          .seconds = truth.fixed + truth.per_stream * static_cast<double>(streams) +
                     truth.per_prompt_token * static_cast<double>(prompt)};
}

void observe_mixed(StepClock& clock, const StepCost& truth, int n) {
  for (int i = 0; i < n; ++i) clock.observe(step(truth, i % 7, (i * 37) % 200));
}

void expect_near(const StepCost& cost, const StepCost& truth) {
  EXPECT_NEAR(cost.fixed, truth.fixed, 0.03 * truth.fixed);
  EXPECT_NEAR(cost.per_stream, truth.per_stream, 0.03 * truth.per_stream);
  EXPECT_NEAR(cost.per_prompt_token, truth.per_prompt_token, 0.03 * truth.per_prompt_token);
}

TEST(StepClock, FindsTheCostsBehindMixedSteps) {
  const StepCost truth = {.fixed = 0.01, .per_stream = 0.002, .per_prompt_token = 0.001};
  StepClock clock;
  observe_mixed(clock, truth, 100);
  expect_near(clock.cost(), truth);
}

TEST(StepClock, FollowsAMachineThatBecomesSlower) {
  StepCost truth = {.fixed = 0.01, .per_stream = 0.002, .per_prompt_token = 0.001};
  StepClock clock;
  observe_mixed(clock, truth, 100);
  truth = {.fixed = 0.03, .per_stream = 0.006, .per_prompt_token = 0.003};
  observe_mixed(clock, truth, 1500);
  expect_near(clock.cost(), truth);
}

// Every step the same but for what prompts cost: only steps seen before tell the two apart.
TEST(StepClock, KnowsWhatStreamsTakeAloneWhilePromptsGetDearer) {
  StepCost truth = {.fixed = 0.01, .per_stream = 0.001, .per_prompt_token = 0.001};
  StepClock clock;
  for (int i = 0; i < 60; ++i) clock.observe(step(truth, i % 17, 0));
  for (int i = 0; i < 60; ++i) clock.observe(step(truth, 16, 0));
  for (int i = 0; i < 200; ++i) {
    truth.per_prompt_token = 0.001 + 0.00001 * i;
    clock.observe(step(truth, 16, 20));
  }
  const StepCost cost = clock.cost();
  EXPECT_NEAR(cost.fixed + 16 * cost.per_stream, 0.026, 0.05 * 0.026);
  EXPECT_NEAR(cost.per_prompt_token, 0.003, 0.1 * 0.003);
}

// What a prompt was like at its beginning tells what it is like far in, and the other way round.
TEST(StepClock, FindsWhatDepthCosts) {
  const StepCost truth = {
      .fixed = 0.004, .per_stream = 0.001, .per_prompt_token = 0.0007, .per_position = 5e-7};
  StepClock clock;
  for (int i = 0; i < 30; ++i) clock.observe(step(truth, i % 17, 0));
  for (int prompt = 0; prompt < 4; ++prompt) {
    for (int64_t depth = 0; depth < 2000; depth += 30) {
      const double seconds = truth.fixed + 16 * truth.per_stream + 30 * truth.prompt_token(depth + 15);
      clock.observe({.n_streams = 16,
                     .n_prompt_tokens = 30,
                     .n_prompt_positions = 30 * (depth + 15),
                     .seconds = seconds});
    }
  }
  for (const int64_t depth : {0, 1000, 4000})
    EXPECT_NEAR(clock.cost().prompt_token(depth), truth.prompt_token(depth),
                0.05 * truth.prompt_token(depth));
}

// Tokens cost more in small steps than in full ones: what full steps took must not hide it.
TEST(StepClock, BelievesTheSmallStepsBesideStreamsSoon) {
  StepClock clock;
  for (int i = 0; i < 20; ++i) clock.observe({.n_streams = 0, .n_prompt_tokens = 512, .seconds = 0.45});
  for (int i = 0; i < 64; ++i) clock.observe({.n_streams = 16, .n_prompt_tokens = 0, .seconds = 0.015});
  for (int i = 0; i < 15; ++i) clock.observe({.n_streams = 16, .n_prompt_tokens = 40, .seconds = 0.060});
  const StepCost cost = clock.cost();
  EXPECT_NEAR(cost.fixed + 16 * cost.per_stream, 0.015, 0.05 * 0.015);
  EXPECT_NEAR(cost.per_prompt_token, 0.045 / 40, 0.1 * 0.045 / 40);
}

TEST(StepClock, KnowsWhatPromptsCostFromFullStepsAlone) {
  StepClock clock;
  for (int i = 0; i < 3; ++i) clock.observe({.n_streams = 0, .n_prompt_tokens = 512, .seconds = 0.45});
  EXPECT_NEAR(clock.cost().per_prompt_token, 0.45 / 512, 0.1 * 0.45 / 512);
}

TEST(StepClock, RemembersWhatPromptsCostThroughALongStretchWithoutThem) {
  const StepCost truth = {.fixed = 0.01, .per_stream = 0.002, .per_prompt_token = 0.001};
  StepClock clock;
  observe_mixed(clock, truth, 100);
  for (int i = 0; i < 10000; ++i) clock.observe(step(truth, 4, 0));
  EXPECT_NEAR(clock.cost().per_prompt_token, truth.per_prompt_token, 0.1 * truth.per_prompt_token);
}

// More streams that take less time: the free solution has streams below zero and fixed above all that was
// seen. The best one without is what the steps take by themselves.
TEST(StepClock, KnowsNoCostsBelowZero) {
  StepClock clock;
  for (int i = 0; i < 200; ++i)
    clock.observe(i % 2 == 0 ? StepTime{.n_streams = 1, .seconds = 0.030}
                             : StepTime{.n_streams = 16, .seconds = 0.020});
  EXPECT_EQ(clock.cost().per_stream, 0);
  // Of relative errors: (1/30 + 1/20) / (1/30^2 + 1/20^2) ms.
  EXPECT_NEAR(clock.cost().fixed, 0.02308, 0.03 * 0.02308);
  EXPECT_EQ(clock.cost().per_prompt_token, 0);
}

}  // namespace
}  // namespace quire

#include "engine/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

const std::string& path() {
  static const std::string path = testing::model_path("llama/model-f32.gguf");
  return path;
}

size_t total(const EngineSettings& settings) {
  const Result<MemoryPlan> plan = Runner::plan(path(), settings);
  EXPECT_TRUE(plan.ok());
  return plan.ok() ? plan->total_bytes() : 0;
}

TEST(FitToMemory, TakesTheWholeContextWhenItFits) {
  const Result<MemoryFit> fit = fit_to_memory(path(), {}, total({.ctx = 512}), FitParallel::kKeep);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_EQ(fit->settings.ctx, 512);
  EXPECT_THAT(fit->reason, HasSubstr("whole context of 512 tokens"));
}

TEST(FitToMemory, TakesTheLargestContextThatFits) {
  // More than the model was trained for may be asked for.
  for (int64_t best : {int64_t{256}, int64_t{1024}, int64_t{1280}, int64_t{3840}}) {
    for (size_t spare : {size_t{0}, total({.ctx = best + 256}) - total({.ctx = best}) - 1}) {
      const size_t budget = total({.ctx = best}) + spare;
      const Result<MemoryFit> fit = fit_to_memory(path(), {.ctx = 4096}, budget, FitParallel::kChoose);
      ASSERT_TRUE(fit.ok()) << fit.error().message;
      EXPECT_EQ(fit->settings.ctx, best);
      EXPECT_EQ(fit->plan.max_context, best);
      EXPECT_EQ(fit->settings.max_sequences, 1);
      EXPECT_LE(fit->plan.total_bytes(), budget);
      EXPECT_THAT(fit->reason, HasSubstr(fmt::format("--ctx {}", best)));
    }
  }
}

TEST(FitToMemory, TakesTheMostSequencesThatFit) {
  const size_t budget = total({.ctx = 512, .max_sequences = 7});
  const Result<MemoryFit> fit = fit_to_memory(path(), {}, budget, FitParallel::kChoose);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_EQ(fit->settings.max_sequences, 7);
  EXPECT_EQ(fit_to_memory(path(), {}, budget - 1, FitParallel::kChoose)->settings.max_sequences, 6);
  EXPECT_EQ(fit_to_memory(path(), {}, size_t{1} << 40, FitParallel::kChoose)->settings.max_sequences,
            kMaxFitSequences);
  EXPECT_EQ(fit_to_memory(path(), {}, budget, FitParallel::kKeep)->settings.max_sequences, 1);
}

TEST(FitToMemory, SaysWhenNothingFits) {
  const Result<MemoryFit> fit = fit_to_memory(path(), {}, total({.ctx = 256}) - 1, FitParallel::kKeep);
  ASSERT_FALSE(fit.ok());
  EXPECT_EQ(fit.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(fit.error().message, HasSubstr("only 256 tokens"));
}

TEST(CheckBudget, NamesThePartsAndAnOptionThatFits) {
  const EngineSettings settings{.ctx = 2048, .max_sequences = 4};
  const Result<MemoryPlan> plan = Runner::plan(path(), settings);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(check_budget(path(), settings, *plan, plan->total_bytes()).ok());

  const size_t budget = plan->total_bytes() - 1;
  const Status status = check_budget(path(), settings, *plan, budget);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(status.error().message, HasSubstr("weights"));
  EXPECT_THAT(status.error().message, HasSubstr("--ctx 1792 would fit"));
  EXPECT_LE(total({.ctx = 1792, .max_sequences = 4}), budget);

  const Status alone = check_budget(path(), settings, *plan, total({.ctx = 512}));
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.error().message, HasSubstr("--parallel 1 --ctx 512 would fit"));

  const Status never = check_budget(path(), settings, *plan, 1000);
  ASSERT_FALSE(never.ok());
  EXPECT_THAT(never.error().message, HasSubstr("smaller model"));
}

}  // namespace
}  // namespace quire

// What plans promise: what a loaded model owns, and how that follows the settings.
#include "engine/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/engine/held_as_planned.h"
#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

using testing::text_of;

size_t bytes_of(const MemoryPlan& plan, const std::string& kind) {
  size_t bytes = 0;
  for (const PlanRow& row : plan.rows) bytes += row.kind == kind && row.place != "file" ? row.bytes : 0;
  return bytes;
}

class PlannedModel : public ::testing::TestWithParam<const char*> {
 protected:
  static void expect_held_as_planned(const EngineSettings& settings) {
    testing::expect_held_as_planned(testing::model_path(GetParam()), settings);
  }
};

TEST_P(PlannedModel, HoldsWhatWasPlanned) {
  for (int64_t ctx : {int64_t{1}, int64_t{100}, int64_t{512}}) {
    for (int32_t sequences : {1, 3}) {
      for (graph::KvType kv_type : {graph::KvType::kF16, graph::KvType::kBF16, graph::KvType::kF32}) {
        for (int threads : {1, 2}) {
          for (graph::ActivationSetting activations :
               {graph::ActivationSetting::kInt8, graph::ActivationSetting::kF32}) {
            expect_held_as_planned({.ctx = ctx,
                                    .max_sequences = sequences,
                                    .max_batch_tokens = 48,
                                    .threads = threads,
                                    .kv_type = kv_type,
                                    .activations = activations});
          }
        }
      }
    }
  }
}

// Context, sequences, pages and spill pages, each small, odd and large.
TEST_P(PlannedModel, HoldsWhatWasPlannedForEveryPool) {
  for (const int64_t ctx : {int64_t{16}, int64_t{333}, int64_t{2048}}) {
    for (const int32_t sequences : {1, 4, 32}) {
      size_t least = 0;  // of smaller pools
      for (const int64_t pages : {int64_t{1}, int64_t{7}, int64_t{100}, int64_t{0}}) {
        for (const int64_t spilled : {int64_t{0}, int64_t{5}, int64_t{1000}}) {
          const EngineSettings settings{.ctx = ctx,
                                        .max_sequences = sequences,
                                        .max_batch_tokens = 64,
                                        .kv_pages = pages,
                                        .spill_pages = spilled,
                                        .threads = 1};
          const Result<MemoryPlan> plan = Runner::plan(testing::model_path(GetParam()), settings);
          ASSERT_TRUE(plan.ok()) << plan.error().message;
          const std::unique_ptr<Runner> runner = testing::load(GetParam(), settings);
          ASSERT_NE(runner, nullptr);
          ASSERT_EQ(text_of(*plan), text_of(runner->memory()));
          const SequenceMemory& memory = runner->memory_module();
          EXPECT_EQ(bytes_of(*plan, "kv"), memory.page_bytes() + memory.spill_bytes());
          // States stay where they are: a model of nothing else has nothing to spill.
          EXPECT_EQ(memory.spill_bytes() > 0, spilled > 0 && memory.n_groups() > 0);
          if (spilled == 0) {
            EXPECT_GE(memory.page_bytes(), least);
            least = memory.page_bytes();
          }
        }
      }
    }
  }
}

// A budget is kept, and a larger one holds no fewer pages.
TEST_P(PlannedModel, HoldsWhatWasPlannedForEveryBudget) {
  for (const int64_t ctx : {int64_t{64}, int64_t{1000}}) {
    for (const int32_t sequences : {1, 8}) {
      size_t least = 0;
      for (const uint64_t budget : {20'000, 300'000, 5'000'000, 1'000'000'000}) {
        const EngineSettings settings{.ctx = ctx,
                                      .max_sequences = sequences,
                                      .max_batch_tokens = 64,
                                      .kv_budget = budget,
                                      .threads = 1};
        const Result<MemoryPlan> plan = Runner::plan(testing::model_path(GetParam()), settings);
        if (!plan.ok()) {
          EXPECT_EQ(plan.error().code, ErrorCode::kResourceExhausted);
          EXPECT_EQ(least, 0u) << "a smaller budget was enough";
          continue;
        }
        const std::unique_ptr<Runner> runner = testing::load(GetParam(), settings);
        ASSERT_NE(runner, nullptr);
        ASSERT_EQ(text_of(*plan), text_of(runner->memory()));
        EXPECT_LE(bytes_of(*plan, "kv"), budget);
        EXPECT_GE(bytes_of(*plan, "kv"), least);
        least = bytes_of(*plan, "kv");
      }
    }
  }
}

// Planes of states for drafts, and pages for windows that reach back.
TEST_P(PlannedModel, HoldsWhatWasPlannedForDrafts) {
  for (const int32_t max_draft : {1, 7}) {
    expect_held_as_planned({.ctx = 200, .max_sequences = 3, .max_draft = max_draft, .threads = 1});
  }
}

TEST_P(PlannedModel, HoldsWhatWasPlannedForCachesAndCheckpoints) {
  for (const uint64_t budget : {uint64_t{0}, uint64_t{100'000}, kAnySize}) {
    for (const int64_t every : {16, 64}) {
      expect_held_as_planned({.ctx = 200,
                              .max_sequences = 3,
                              .cache_budget = budget,
                              .checkpoint_every = every,
                              .checkpoint_budget = std::min<uint64_t>(budget, 1 << 20),
                              .threads = 1});
    }
  }
}

TEST_P(PlannedModel, HoldsWhatWasPlannedOnEveryIsa) {
  for (Isa isa : supported_isas()) {
    expect_held_as_planned({.ctx = 64, .isa = isa_name(isa)});
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, PlannedModel,
                         ::testing::Values("llama/model-f32.gguf", "gemma3/model-f32.gguf",
                                           "qwen35/model-f16.gguf", "mamba2/model-f16.gguf",
                                           "falcon-h1/model-f16.gguf", "deepseek2-lite/model-f16.gguf",
                                           "mixtral-top3/model-f16.gguf", "quant-dense/model-q4_k.gguf",
                                           "quant-moe/model-mxfp4.gguf"),
                         [](const auto& param) {
                           std::string name = param.param;
                           name.resize(name.find('/'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(MemoryPlan, FollowsTheSettings) {
  const std::string path = testing::model_path("llama/model-f32.gguf");
  const auto plan = [&](const EngineSettings& settings) {
    Result<MemoryPlan> planned = Runner::plan(path, settings);
    EXPECT_TRUE(planned.ok());
    return *std::move(planned);
  };
  const EngineSettings base{.ctx = 256, .max_batch_tokens = 64, .threads = 1};
  const MemoryPlan reference = plan(base);
  EngineSettings settings = base;
  settings.ctx = 512;
  EXPECT_EQ(bytes_of(plan(settings), "kv"), 2 * bytes_of(reference, "kv"));
  settings = base;
  settings.max_sequences = 5;
  EXPECT_EQ(bytes_of(plan(settings), "kv"), 5 * bytes_of(reference, "kv"));
  EXPECT_EQ(bytes_of(plan(settings), "logits"), 5 * bytes_of(reference, "logits"));
  settings = base;
  settings.kv_pages = 5;
  const size_t five = bytes_of(plan(settings), "kv");
  settings.kv_pages = 0;
  settings.kv_budget = five;
  EXPECT_EQ(bytes_of(plan(settings), "kv"), five);
  settings.kv_budget = five - 1;
  EXPECT_EQ(bytes_of(plan(settings), "kv"), five / 5 * 4);
  settings.kv_budget = 1;
  const Result<MemoryPlan> too_small = Runner::plan(path, settings);
  ASSERT_FALSE(too_small.ok());
  EXPECT_EQ(too_small.error().code, ErrorCode::kResourceExhausted);
  settings = base;
  settings.checkpoint_every = 24;
  const Result<MemoryPlan> inside_a_page = Runner::plan(path, settings);
  ASSERT_FALSE(inside_a_page.ok());
  EXPECT_EQ(inside_a_page.error().code, ErrorCode::kInvalidArgument);
  settings = base;
  settings.max_batch_tokens = 128;
  EXPECT_EQ(bytes_of(plan(settings), "activations"), 2 * bytes_of(reference, "activations"));
  settings = base;
  settings.threads = 3;
  EXPECT_GT(bytes_of(plan(settings), "scratch"), 2 * bytes_of(reference, "scratch"));
  settings = base;
  settings.answer_bytes = 12'345;
  EXPECT_EQ(bytes_of(plan(settings), "answers"), 12'345u);
  EXPECT_EQ(plan(settings).total_bytes(), reference.total_bytes() + 12'345);
}

TEST(MemoryPlan, RefusesTablesThatNoMachineHolds) {
  const Result<MemoryPlan> plan =
      Runner::plan(testing::model_path("llama/model-f32.gguf"),
                   {.ctx = 1 << 24, .max_sequences = 1 << 16, .max_batch_tokens = 1 << 16, .kv_pages = 1000});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(plan.error().message.find("--parallel"), std::string::npos) << plan.error().message;
}

TEST(MemoryPlan, FileRowsAreNotSummed) {
  const MemoryPlan plan{
      .rows = {{"weights", "host", 10, ""}, {"weights", "file", 1000, ""}, {"kv", "host", 5, ""}}};
  EXPECT_EQ(plan.total_bytes(), 15u);
}

}  // namespace
}  // namespace quire

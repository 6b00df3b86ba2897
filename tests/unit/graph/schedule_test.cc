#include "graph/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/passes.h"
#include "unit/graph/memory_source.h"
#include "unit/graph/random_program.h"

namespace quire::graph {
namespace {

using testing::MemorySource;

// embed, norm | linear | rope table, rope, store | attention | gather | norm
Program small_program(const MemorySource& source) {
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  Value x = b.rms_norm(b.embed("token_embd.weight", 8, 64), "norm.64.weight", 1e-5f);
  Value q = b.linear(x, "f.64.64.weight", 64);
  q = b.rope(q, {.inv_freq = {1}}, 8, kernels::RopePairs::kHalves);
  const Value out = b.attention(q, q, q, {.n_head = 8, .n_head_kv = 8, .d_k = 8, .d_v = 8});
  const Value y = b.rms_norm(b.select_outputs(out), "norm.64.weight", 1e-5f);
  return std::move(b).finish(y).value();
}

class ScheduleTest : public ::testing::Test {
 protected:
  ScheduleTest() { testing::add_random_program_tensors(source); }
  MemorySource source;
};

TEST_F(ScheduleTest, RowOpsShareAPhaseAndOthersStandAlone) {
  const Program program = small_program(source);
  std::string kinds;
  for (const Phase& phase : make_phases(program, RowPhases::kMerged)) {
    kinds += "RLAG"[static_cast<int>(phase.kind)];
    kinds += std::to_string(phase.end_op - phase.first_op);
    EXPECT_EQ(phase.rows, phase.first_op >= 7 ? Rows::kOutputs : Rows::kTokens);
  }
  EXPECT_EQ(kinds, "R2L1R3A1G1R1");
}

TEST_F(ScheduleTest, SeparatePhasesHoldOneOpEach) {
  const Program program = small_program(source);
  EXPECT_EQ(make_phases(program, RowPhases::kSeparate).size(), program.ops.size());
}

TEST_F(ScheduleTest, PhasesCoverEveryOpOnceInOrder) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Program program = testing::random_program(source, seed, 40);
    for (RowPhases row_phases : {RowPhases::kMerged, RowPhases::kSeparate}) {
      int32_t next = 0;
      for (const Phase& phase : make_phases(program, row_phases)) {
        EXPECT_EQ(phase.first_op, next);
        EXPECT_GT(phase.end_op, phase.first_op);
        if (phase.end_op - phase.first_op > 1) {
          EXPECT_EQ(phase.kind, PhaseKind::kRows);
        }
        for (int32_t i = phase.first_op; i < phase.end_op; ++i)
          EXPECT_EQ(is_row_op(program.ops[static_cast<size_t>(i)]), phase.kind == PhaseKind::kRows);
        next = phase.end_op;
      }
      EXPECT_EQ(next, static_cast<int32_t>(program.ops.size()));
    }
  }
}

TEST_F(ScheduleTest, BytesAreForTheLargestStep) {
  const StepLimits limits{.max_tokens = 5, .max_outputs = 2};
  EXPECT_EQ(value_bytes({.rows = Rows::kTokens, .cols = 33}, limits), 704u);  // 5 * 33 * 4, rounded to 64
  EXPECT_EQ(value_bytes({.rows = Rows::kOutputs, .cols = 33}, limits), 320u);
  const ValueInfo quantised{.rows = Rows::kTokens, .cols = 64, .type = DataType::kQ8x32};
  EXPECT_EQ(value_bytes(quantised, limits) % 64, 0u);
  EXPECT_GE(value_bytes(quantised, limits), 5u * 64);
  EXPECT_LT(value_bytes(quantised, limits), value_bytes({.rows = Rows::kTokens, .cols = 64}, limits));
}

// Phases in which a value's bytes hold something that is still wanted, found without the planner: written at
// or before, read at or after, and a tap from its making to the end.
std::vector<bool> alive(const Program& program, const std::vector<Phase>& phases, size_t value) {
  const auto touches = [&](const Phase& phase, bool writes) {
    for (int32_t i = phase.first_op; i < phase.end_op; ++i) {
      const Op& op = program.ops[static_cast<size_t>(i)];
      for (Value v : writes ? op.outputs : op.inputs) {
        if (program.root(v).id == static_cast<int32_t>(value)) return true;
      }
    }
    return false;
  };
  std::vector<bool> result(phases.size(), false);
  bool written = false;
  for (size_t p = 0; p < phases.size(); ++p) {
    written = written || touches(phases[p], true);
    result[p] = written;
  }
  bool wanted = program.values[value].tap;
  for (size_t p = phases.size(); p-- > 0;) {
    wanted = wanted || touches(phases[p], false) || touches(phases[p], true);
    result[p] = result[p] && wanted;
  }
  return result;
}

void check_plan(const Program& program, const std::vector<Phase>& phases, const StepLimits& limits) {
  const ArenaPlan plan = plan_arena(program, phases, limits);
  struct Placed {
    size_t begin, end;
    std::vector<bool> alive;
  };
  std::vector<Placed> placed;
  size_t all = 0;
  size_t taps = 0;
  std::vector<size_t> needed(phases.size(), 0);
  for (size_t v = 0; v < program.values.size(); ++v) {
    const ValueInfo& info = program.values[v];
    if (info.parent.valid()) {
      EXPECT_EQ(plan.offsets[v], plan.offsets[static_cast<size_t>(info.parent.id)]) << "view " << v;
      continue;
    }
    const size_t bytes = value_bytes(info, limits);
    EXPECT_EQ(plan.offsets[v] % 64, 0u);
    EXPECT_LE(plan.offsets[v] + bytes, plan.bytes);
    placed.push_back({plan.offsets[v], plan.offsets[v] + bytes, alive(program, phases, v)});
    all += bytes;
    taps += info.tap ? bytes : 0;
    for (size_t p = 0; p < phases.size(); ++p) needed[p] += placed.back().alive[p] ? bytes : 0;
  }
  EXPECT_EQ(plan.tap_bytes, taps);
  EXPECT_LE(plan.bytes, all);
  EXPECT_GE(plan.bytes, *std::max_element(needed.begin(), needed.end()));
  for (size_t a = 0; a < placed.size(); ++a) {
    for (size_t b = a + 1; b < placed.size(); ++b) {
      if (placed[a].end <= placed[b].begin || placed[b].end <= placed[a].begin) continue;
      for (size_t p = 0; p < phases.size(); ++p)
        ASSERT_FALSE(placed[a].alive[p] && placed[b].alive[p]) << "values share bytes in phase " << p;
    }
  }
}

TEST_F(ScheduleTest, NoTwoValuesAliveInAPhaseOverlap) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Program program = testing::random_program(source, seed, 30 + static_cast<int>(seed) % 40);
    const StepLimits limits{.max_tokens = 1 + static_cast<int64_t>(seed % 19), .max_outputs = 1 + seed % 3};
    check_plan(program, make_phases(program, RowPhases::kMerged), limits);
    check_plan(program, make_phases(program, RowPhases::kSeparate), limits);
    run_passes(program, {});
    check_plan(program, make_phases(program, RowPhases::kMerged), limits);
    if (HasFailure()) break;
  }
}

TEST_F(ScheduleTest, BytesAreReusedAndPlansRepeat) {
  size_t all = 0;
  size_t planned = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Program program = testing::random_program(source, seed, 60);
    const std::vector<Phase> phases = make_phases(program, RowPhases::kMerged);
    const StepLimits limits{.max_tokens = 8, .max_outputs = 1};
    const ArenaPlan plan = plan_arena(program, phases, limits);
    EXPECT_EQ(plan_arena(program, phases, limits).offsets, plan.offsets);
    planned += plan.bytes - plan.tap_bytes;
    for (const ValueInfo& info : program.values)
      all += info.parent.valid() || info.tap ? 0 : value_bytes(info, limits);
  }
  EXPECT_LT(planned, all / 2);
}

}  // namespace
}  // namespace quire::graph

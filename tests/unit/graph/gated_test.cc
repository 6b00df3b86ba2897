// Gated feed-forward networks: tile by tile or phase by phase, the bits are the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "graph/passes.h"
#include "unit/graph/memory_source.h"
#include "unit/graph/output_rows.h"

namespace quire::graph {
namespace {

using kernels::ActivationPlanes;
using kernels::ActivationSetting;
using testing::MemorySource;
using testing::output_rows;

constexpr int64_t kVocab = 24, kWidth = 96;

// How the two sides are stored.
enum class Sides { kTwoMatrices, kOneMatrix };

struct Network {
  int64_t n_hidden = 0;
  Sides sides = Sides::kTwoMatrices;
  ActivationSetting activations = ActivationSetting::kInt8;
  ActivationPlanes down = ActivationPlanes::kOne;
};

Program build(const MemorySource& source, const Network& network) {
  const int64_t n = network.n_hidden;
  const std::string width = std::to_string(n);
  ProgramBuilder b(source, network.activations);
  const Value x = b.embed("embd", kVocab, kWidth);
  Value gate, up;
  if (network.sides == Sides::kTwoMatrices) {
    gate = b.linear(x, "gate" + width, n);
    up = b.linear(x, "up" + width, n);
  } else {
    const Value both = b.linear(x, "both" + width, 2 * n);
    gate = b.slice(both, 0, n);
    up = b.slice(both, n, n);
  }
  b.set_planes(network.down);
  const Value y = b.linear(b.gated_activation(gate, up, kernels::Activation::kSilu), "down" + width, kWidth);
  Program program = std::move(b).finish(b.select_outputs(y)).value();
  run_passes(program, {});
  return program;
}

class GatedTest : public ::testing::Test {
 protected:
  void add_tensors(int64_t n, ElementType type) {
    const std::string width = std::to_string(n);
    source.add_random("embd", {kWidth, kVocab});
    add("gate" + width, kWidth, n, type);
    add("up" + width, kWidth, n, ElementType::kQ8_0);
    add("both" + width, kWidth, 2 * n, type);
    source.add_random("down" + width, {n, kWidth});
  }

  testing::OutputRows run(const Program& program, const std::string& isa, int threads, GatedTiles gated_tiles,
                          size_t chunk) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < 40; ++i) tokens.push_back(i * 7 % static_cast<int32_t>(kVocab));
    return output_rows(program, source, isa,
                       {.n_threads = threads,
                        .kv = {},
                        .limits = {.max_tokens = 40, .max_outputs = 40},
                        .gated_tiles = gated_tiles},
                       tokens, chunk);
  }

  MemorySource source;

 private:
  void add(const std::string& name, int64_t k, int64_t n, ElementType type) {
    std::vector<float> values(static_cast<size_t>(k * n));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 37 + i / 64) % 101) / 101 - 0.45f;
    source.add(name, {k, n}, values, type);
  }
};

TEST_F(GatedTest, TilesHaveTheBitsOfPhases) {
  // Whole blocks, a block in part, and more columns than one tile takes.
  for (const int64_t n : {int64_t{64}, int64_t{48}, int64_t{1040}}) {
    for (const ElementType type : {ElementType::kQ4_0, ElementType::kF32}) {
      add_tensors(n, type);
      for (const Sides sides : {Sides::kTwoMatrices, Sides::kOneMatrix}) {
        for (const ActivationPlanes down : {ActivationPlanes::kOne, ActivationPlanes::kTwo}) {
          const Program program = build(source, {.n_hidden = n, .sides = sides, .down = down});
          std::vector<Phase> phases = make_phases(program, RowPhases::kMerged);
          ASSERT_EQ(merge_gated(program, phases), 1);
          const testing::OutputRows expected = run(program, "auto", 1, GatedTiles::kOff, 40);
          for (const int threads : {1, 3}) {
            for (const size_t chunk : {size_t{1}, size_t{13}, size_t{40}})
              EXPECT_EQ(run(program, "auto", threads, GatedTiles::kOn, chunk), expected)
                  << n << " columns, " << threads << " threads, steps of " << chunk;
          }
          EXPECT_EQ(run(program, "scalar", 2, GatedTiles::kOn, 40), expected);
        }
      }
    }
  }
}

TEST_F(GatedTest, TakesValuesThatAreNotQuantised) {
  add_tensors(48, ElementType::kF32);
  const Program program = build(source, {.n_hidden = 48, .activations = ActivationSetting::kF32});
  std::vector<Phase> phases = make_phases(program, RowPhases::kMerged);
  ASSERT_EQ(merge_gated(program, phases), 1);
  EXPECT_EQ(run(program, "auto", 3, GatedTiles::kOn, 13), run(program, "auto", 1, GatedTiles::kOff, 40));
}

TEST_F(GatedTest, LeavesPhasesThatDoMore) {
  source.add_random("embd", {kWidth, kVocab});
  for (const char* name : {"gate", "up", "other"}) source.add_random(name, {kWidth, 48});
  const auto n_merged = [&](auto build_end) {
    ProgramBuilder b(source, ActivationSetting::kInt8);
    const Value x = b.embed("embd", kVocab, kWidth);
    Program program = std::move(b).finish(b.select_outputs(build_end(b, x))).value();
    run_passes(program, {});
    std::vector<Phase> phases = make_phases(program, RowPhases::kMerged);
    return merge_gated(program, phases);
  };
  const auto gated = [](ProgramBuilder& b, Value x) {
    return b.gated_activation(b.linear(x, "gate", 48), b.linear(x, "up", 48), kernels::Activation::kGeluTanh);
  };
  EXPECT_EQ(n_merged(gated), 1);
  // A third matrix in the same linear op, a row operation more, one value on both sides.
  EXPECT_EQ(
      n_merged([&](ProgramBuilder& b, Value x) { return b.add(gated(b, x), b.linear(x, "other", 48)); }), 0);
  EXPECT_EQ(n_merged([&](ProgramBuilder& b, Value x) { return b.scale(gated(b, x), 2); }), 0);
  EXPECT_EQ(n_merged([&](ProgramBuilder& b, Value x) {
              const Value y = b.linear(x, "gate", 48);
              return b.gated_activation(y, y, kernels::Activation::kGeluTanh);
            }),
            0);
}

}  // namespace
}  // namespace quire::graph

#include "graph/weight_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "unit/graph/memory_source.h"

namespace quire::graph {
namespace {

using kernels::ActivationSetting;
using testing::MemorySource;

class WeightStoreTest : public ::testing::Test {
 protected:
  WeightStoreTest() {
    source.add_random("token_embd.weight", {64, 40}, ElementType::kQ8_0);
    source.add_random("norm.weight", {64});
    source.add_random("a.weight", {64, 37});  // no multiple of a group's rows
    source.add_random("b.weight", {64, 64}, ElementType::kQ4_0);
    source.add_random("c.weight", {64, 48}, ElementType::kF16);
    source.add_random("b.bias", {64}, ElementType::kF16);
    source.add_random("taps.weight", {4, 64});
    source.add_random("unused.weight", {64, 64});
  }
  // Uses every tensor but one, the table in both forms.
  Program build(ActivationSetting activations = ActivationSetting::kInt8) {
    ProgramBuilder b(source, activations);
    const Value x = b.rms_norm(b.embed("token_embd.weight", 40, 64), "norm.weight", 1e-5f);
    b.linear(x, "a.weight", 37);
    b.linear_bias(x, "b.weight", "b.bias", 64);
    b.linear(x, "c.weight", 48);
    b.causal_conv(x, b.state_layer(), {.weight = "taps.weight", .n_taps = 4});
    const Value logits = b.linear(b.select_outputs(x), "token_embd.weight", 40);
    return std::move(b).finish(logits).value();
  }

  MemorySource source;
  ThreadPool pool{2};
};

TEST_F(WeightStoreTest, LoadsWhatItPlanned) {
  for (ActivationSetting activations : {ActivationSetting::kInt8, ActivationSetting::kF32}) {
    const Program program = build(activations);
    const WeightStore store =
        WeightStore::load(program, source, pool, [](size_t, size_t) { return true; }).value();
    EXPECT_EQ(store.bytes(), WeightStore::plan_bytes(program));
    for (size_t w = 0; w < program.weights.size(); ++w) {
      const WeightDecl& decl = program.weights[w];
      SCOPED_TRACE(decl.name);
      const WeightId id{static_cast<int32_t>(w)};
      switch (decl.role) {
        case WeightRole::kLinear: {
          const size_t bytes = decl.format->group_bytes(decl.view.n_cols());
          std::vector<std::byte> group(bytes);
          for (int64_t g = 0; g < kernels::n_groups(decl.view.n_rows()); ++g) {
            decl.format->pack_group(decl.view, g, group.data());
            EXPECT_EQ(std::memcmp(store.packed(id) + static_cast<size_t>(g) * bytes, group.data(), bytes), 0);
          }
          EXPECT_EQ(reinterpret_cast<uintptr_t>(store.packed(id)) % 64, 0u);
          break;
        }
        case WeightRole::kVector: {
          std::vector<float> values(static_cast<size_t>(decl.view.n_elems()));
          element_type_info(decl.view.type).decode(decl.view.data, values.data(), decl.view.n_elems());
          EXPECT_EQ(std::memcmp(store.vector(id), values.data(), values.size() * sizeof(float)), 0);
          break;
        }
        case WeightRole::kTransposed: {
          const int64_t n_rows = decl.view.n_rows(), n_cols = decl.view.n_cols();
          std::vector<float> values(static_cast<size_t>(n_rows * n_cols));
          element_type_info(decl.view.type).decode(decl.view.data, values.data(), n_rows * n_cols);
          for (int64_t i = 0; i < n_rows * n_cols; ++i) {
            EXPECT_EQ(store.vector(id)[i % n_cols * n_rows + i / n_cols], values[static_cast<size_t>(i)]);
          }
          break;
        }
        case WeightRole::kTable:
          EXPECT_EQ(store.table(id).data, source.find(decl.name)->data);
          break;
      }
    }
  }
}

TEST_F(WeightStoreTest, ThreadsDoNotChangeAByte) {
  const Program program = build();
  const auto progress = [](size_t, size_t) { return true; };
  ThreadPool one(1);
  const WeightStore a = WeightStore::load(program, source, pool, progress).value();
  const WeightStore b = WeightStore::load(program, source, one, progress).value();
  ASSERT_EQ(a.bytes(), b.bytes());
  for (size_t w = 0; w < program.weights.size(); ++w) {
    if (program.weights[w].role != WeightRole::kLinear) continue;
    const WeightId id{static_cast<int32_t>(w)};
    EXPECT_EQ(std::memcmp(a.packed(id), b.packed(id),
                          program.weights[w].format->group_bytes(program.weights[w].view.n_cols())),
              0);
  }
}

TEST_F(WeightStoreTest, ProgressEndsAtTheTotalAndTensorsAreGivenBackOnce) {
  // Many groups, so that loading takes several batches.
  source.add("big.weight", {1024, 4352}, std::vector<float>(1024 * 4352, 0.5f));
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = b.rms_norm(b.embed("token_embd.weight", 40, 64), "norm.weight", 1e-5f);
  source.add_random("up.weight", {64, 1024});
  b.linear(b.linear(x, "up.weight", 1024), "big.weight", 4352);
  const Value logits = b.linear(b.select_outputs(x), "token_embd.weight", 40);
  const Program program = std::move(b).finish(logits).value();

  std::vector<size_t> seen;
  size_t last_total = 0;
  const auto progress = [&](size_t done, size_t total) {
    seen.push_back(done);
    last_total = total;
    return true;
  };
  ThreadPool alone(1);  // the caller reports, and among several may come to no work
  ASSERT_TRUE(WeightStore::load(program, source, alone, progress).ok());
  ASSERT_GT(seen.size(), 1u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), last_total);
  const size_t expected = source.find("big.weight")->bytes() + source.find("up.weight")->bytes() +
                          source.find("token_embd.weight")->bytes();
  EXPECT_EQ(last_total, expected);
  const std::map<std::string, size_t> once = {
      {"big.weight", source.find("big.weight")->bytes()},
      {"up.weight", source.find("up.weight")->bytes()},
      {"token_embd.weight", source.find("token_embd.weight")->bytes()}};
  EXPECT_EQ(source.released(), once);
}

TEST_F(WeightStoreTest, LoadingCanBeCancelled) {
  const Program program = build();
  const Result<WeightStore> store =
      WeightStore::load(program, source, pool, [](size_t, size_t) { return false; });
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace quire::graph

// Costs that are counted beside costs worked out by hand, on a program small enough for that.
#include "graph/op_cost.h"

#include <gtest/gtest.h>

namespace quire::graph {
namespace {

ValueInfo value(Rows rows, int64_t cols, DataType type = DataType::kF32) {
  ValueInfo info;
  info.rows = rows;
  info.cols = cols;
  info.type = type;
  return info;
}

Program one_attention(int32_t window) {
  Program program;
  program.values = {value(Rows::kTokens, 24), value(Rows::kTokens, 24)};
  program.kv_layers = {{.n_head_kv = 2, .d_k = 4, .d_v = 4, .window = window}};
  program.ops = {{.attrs = AttentionAttrs{.kv_layer = 0, .n_head = 6, .window = window},
                  .inputs = {Value{0}},
                  .outputs = {Value{1}},
                  .weights = {},
                  .label = "attention"}};
  return program;
}

// Positions that queries [start, start + n) see, counted one by one.
int64_t visible(int64_t start, int64_t n, int64_t window) {
  int64_t sum = 0;
  for (int64_t p = start; p < start + n; ++p) sum += window == 0 ? p + 1 : std::min(p + 1, window);
  return sum;
}

TEST(OpCost, AttentionSeesWhatCausalityAndTheWindowAllow) {
  for (int32_t window : {0, 1, 5, 16, 100}) {
    const Program program = one_attention(window);
    for (int64_t start : {0, 3, 40}) {
      for (int64_t n : {1, 7, 33}) {
        const SpanShape span{.start = start, .n_tokens = n};
        const OpCost cost = op_cost(program, program.ops[0], {.spans = {&span, 1}});
        EXPECT_DOUBLE_EQ(cost.fma_operations, 2.0 * 6 * 8 * static_cast<double>(visible(start, n, window)));
        EXPECT_EQ(cost.dot_operations, 0);
        const int64_t first = window == 0 ? 0 : std::max<int64_t>(0, start + 1 - window);
        EXPECT_DOUBLE_EQ(cost.memory_bytes, static_cast<double>(start + n - first) * 2 * 8 * 2);
        EXPECT_DOUBLE_EQ(cost.row_bytes, static_cast<double>(n) * (24 + 24) * 4);
      }
    }
  }
}

TEST(OpCost, LatentKeysAreReadOnceForAllHeads) {
  Program program = one_attention(0);
  program.kv_layers = {{.n_head_kv = 1, .d_k = 4, .d_v = 3, .form = KvForm::kLatent}};
  const SpanShape span{.start = 10, .n_tokens = 1};
  const OpCost cost = op_cost(program, program.ops[0], {.spans = {&span, 1}});
  EXPECT_DOUBLE_EQ(cost.fma_operations, 2.0 * 11 * 6 * (4 + 3));
  EXPECT_DOUBLE_EQ(cost.memory_bytes, 11.0 * 4 * 2);
}

TEST(OpCost, LinearLayersCountTheirRows) {
  Program program;
  program.values = {value(Rows::kTokens, 64, DataType::kQ8x32), value(Rows::kTokens, 100),
                    value(Rows::kOutputs, 64), value(Rows::kOutputs, 100)};
  const kernels::PackedFormat* q8 =
      kernels::packed_format(ElementType::kQ8_0, kernels::ActivationSetting::kInt8);
  const kernels::PackedFormat* f32 =
      kernels::packed_format(ElementType::kF32, kernels::ActivationSetting::kInt8);
  ASSERT_TRUE(q8 != nullptr && f32 != nullptr);
  program.weights = {
      {.name = "a", .role = WeightRole::kLinear, .view = {ElementType::kQ8_0, {64, 100, 1, 1}}, .format = q8},
      {.name = "b",
       .role = WeightRole::kLinear,
       .view = {ElementType::kF32, {64, 100, 1, 1}},
       .format = f32}};
  program.ops = {{.attrs = LinearAttrs{},
                  .inputs = {Value{0}},
                  .outputs = {Value{1}},
                  .weights = {WeightId{0}},
                  .label = "a"},
                 {.attrs = LinearAttrs{},
                  .inputs = {Value{2}},
                  .outputs = {Value{3}},
                  .weights = {WeightId{1}},
                  .label = "b"}};
  const SpanShape spans[] = {{.start = 0, .n_tokens = 3}, {.start = 9, .n_tokens = 2}};
  const StepShape shape{.spans = spans, .n_outputs = 2};
  const OpCost quantised = op_cost(program, program.ops[0], shape);
  EXPECT_DOUBLE_EQ(quantised.dot_operations, 2.0 * 5 * 64 * 100);
  EXPECT_EQ(quantised.fma_operations, 0);
  EXPECT_DOUBLE_EQ(quantised.memory_bytes, static_cast<double>(7 * q8->group_bytes(64)));
  const OpCost exact = op_cost(program, program.ops[1], shape);
  EXPECT_DOUBLE_EQ(exact.fma_operations, 2.0 * 2 * 64 * 100);
  EXPECT_EQ(exact.dot_operations, 0);
  const OpCost both = step_cost(program, shape);
  EXPECT_DOUBLE_EQ(both.operations(), quantised.operations() + exact.operations());
  // A step without outputs does not read their weights.
  EXPECT_EQ(op_cost(program, program.ops[1], {.spans = spans, .n_outputs = 0}).memory_bytes, 0);
}

}  // namespace
}  // namespace quire::graph

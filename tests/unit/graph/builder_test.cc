#include "graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "unit/graph/memory_source.h"

namespace quire::graph {
namespace {

using kernels::ActivationSetting;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MemorySource;

int count_ops(const Program& program, std::string_view name) {
  int n = 0;
  for (const Op& op : program.ops) n += op_name(op) == name ? 1 : 0;
  return n;
}

// A table and a head, so that any program can be finished.
class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() {
    source.add_random("token_embd.weight", {64, 8});
    source.add_random("output.weight", {64, 8});
  }
  Value input(ProgramBuilder& b) { return b.embed("token_embd.weight", 8, 64); }
  Result<Program> finish(ProgramBuilder& b, Value x) {
    const Value logits = b.linear(b.select_outputs(x), "output.weight", 8);
    return std::move(b).finish(logits);
  }
  // The error of a program that does one thing more.
  template <typename Step>
  std::string error_of(Step&& step) {
    ProgramBuilder b(source, ActivationSetting::kInt8);
    const Value x = input(b);
    step(b, x);
    Result<Program> program = finish(b, x);
    return program.ok() ? "" : program.error().message;
  }

  MemorySource source;
};

TEST_F(BuilderTest, ValuesKnowTheirColumnsRowsAndNames) {
  ProgramBuilder b(source, ActivationSetting::kInt8);
  b.set_label("blk.0");
  const Value x = input(b);
  const Value y = b.select_outputs(x);
  Program program = finish(b, x).value();
  EXPECT_EQ(program.info(x).cols, 64);
  EXPECT_EQ(program.info(x).rows, Rows::kTokens);
  EXPECT_EQ(program.info(x).name, "blk.0.embed");
  EXPECT_EQ(program.info(y).rows, Rows::kOutputs);
  EXPECT_EQ(program.info(program.logits).cols, 8);
  EXPECT_TRUE(program.info(program.logits).tap);
  EXPECT_EQ(program.info(program.logits).name, "logits");
  EXPECT_THAT(describe(program), HasSubstr("linear output:"));
}

TEST_F(BuilderTest, AMissingTensorIsReportedByName) {
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.linear(x, "blk.3.attn_q.weight", 32); }),
              HasSubstr("blk.3.attn_q.weight is missing"));
}

TEST_F(BuilderTest, TheFirstProblemWins) {
  const std::string message = error_of([](ProgramBuilder& b, Value x) {
    b.rms_norm(x, "first.weight", 1e-5f);
    b.linear(x, "second.weight", 32);
    b.fail(make_error(ErrorCode::kCorrupt, "third"));
    EXPECT_TRUE(b.failed());
  });
  EXPECT_THAT(message, HasSubstr("first.weight"));
}

TEST_F(BuilderTest, AWrongShapeIsReportedWithBothShapes) {
  source.add_random("w.weight", {32, 16});
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.linear(x, "w.weight", 16); }),
              AllOf(HasSubstr("w.weight"), HasSubstr("[32, 16, 1, 1]"), HasSubstr("[64, 16]")));
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.rms_norm(x, "w.weight", 1e-5f); }),
              AllOf(HasSubstr("w.weight"), HasSubstr("[64, 1]")));
}

TEST_F(BuilderTest, HigherDimensionsCountAsRows) {
  source.add_random("w.weight", {64, 4, 3});
  EXPECT_EQ(error_of([](ProgramBuilder& b, Value x) { b.linear(x, "w.weight", 12); }), "");
}

TEST_F(BuilderTest, TypesThatHoldNoWeightsAreRefused) {
  source.add("ids.weight", {64, 2}, std::vector<float>(128), ElementType::kI32);
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.linear(x, "ids.weight", 2); }),
              AllOf(HasSubstr("ids.weight"), HasSubstr("I32")));
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.rms_norm(x, "ids.weight", 1e-5f); }),
              HasSubstr("ids.weight"));
  source.add("double.weight", {64, 2}, std::vector<float>(128), ElementType::kF64);
  EXPECT_THAT(error_of([](ProgramBuilder& b, Value x) { b.linear(x, "double.weight", 2); }),
              AllOf(HasSubstr("double.weight"), HasSubstr("F64"), HasSubstr("no linear kernel")));
}

TEST_F(BuilderTest, ABiasIsAddedWhereTheFileHasOne) {
  source.add_random("a.weight", {64, 16});
  source.add_random("b.weight", {64, 16});
  source.add_random("b.bias", {16});
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  b.linear_bias(x, "a.weight", "a.bias", 16);
  b.linear_bias(x, "b.weight", "b.bias", 16);
  EXPECT_EQ(count_ops(finish(b, x).value(), "add_bias"), 1);
}

TEST_F(BuilderTest, SlicesAreViewsOfTheOwner) {
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  const Value half = b.slice(x, 32, 32);
  const Value quarter = b.slice(half, 16, 8);
  Program program = finish(b, x).value();
  EXPECT_EQ(program.root(quarter), x);
  EXPECT_EQ(program.info(quarter).parent, x);
  EXPECT_EQ(program.info(quarter).offset, 48);
  EXPECT_EQ(program.info(quarter).cols, 8);
}

TEST_F(BuilderTest, AValueIsQuantisedOncePerKind) {
  source.add_random("q.weight", {64, 16}, ElementType::kQ8_0);
  source.add_random("k.weight", {64, 16}, ElementType::kQ4_0);
  source.add_random("f.weight", {64, 16});
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  b.linear(x, "q.weight", 16);
  b.linear(x, "k.weight", 16);
  b.linear(x, "f.weight", 16);
  const Program program = finish(b, x).value();
  EXPECT_EQ(count_ops(program, "quantize"), 1);
  EXPECT_EQ(count_ops(program, "linear"), 4);
  for (const Op& op : program.ops) {
    if (op.label == "q" || op.label == "k") {
      EXPECT_EQ(program.info(op.inputs[0]).type, DataType::kQ8x32);
    } else if (op.label == "f") {
      EXPECT_EQ(op.inputs[0], x);
    }
  }
}

TEST_F(BuilderTest, DifferentPlanesAndValuesAreQuantisedApart) {
  source.add_random("q.weight", {64, 16}, ElementType::kQ8_0);
  source.add_random("k.weight", {64, 16}, ElementType::kQ4_0);
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  b.linear(x, "q.weight", 16);
  b.linear(b.scale(x, 2), "q.weight", 16);
  b.set_planes(kernels::ActivationPlanes::kTwo);
  const Value y = b.linear(x, "q.weight", 16);
  b.linear(x, "k.weight", 16);
  const Program program = finish(b, x).value();
  EXPECT_EQ(program.info(y).type, DataType::kF32);
  EXPECT_EQ(program.info(y).cols, 16);
  EXPECT_EQ(count_ops(program, "quantize"), 3);
  EXPECT_EQ(count_ops(program, "sum_planes"), 2);
  EXPECT_EQ(std::count_if(program.weights.begin(), program.weights.end(),
                          [](const WeightDecl& decl) { return decl.name == "q.weight"; }),
            1);
}

TEST_F(BuilderTest, ExactActivationsQuantiseNothing) {
  source.add_random("q.weight", {64, 16}, ElementType::kQ8_0);
  ProgramBuilder b(source, ActivationSetting::kF32);
  const Value x = input(b);
  b.linear(x, "q.weight", 16);
  EXPECT_EQ(count_ops(finish(b, x).value(), "quantize"), 0);
}

TEST_F(BuilderTest, ATiedTableIsDeclaredInBothForms) {
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  const Value logits = b.linear(b.select_outputs(x), "token_embd.weight", 8);
  const Program program = std::move(b).finish(logits).value();
  ASSERT_EQ(program.weights.size(), 2u);
  EXPECT_EQ(program.weights[0].role, WeightRole::kTable);
  EXPECT_EQ(program.weights[1].role, WeightRole::kLinear);
}

TEST_F(BuilderTest, EqualRopesShareATable) {
  const RopeSpec one{.inv_freq = {1, 0.5f}};
  const RopeSpec two{.inv_freq = {1, 0.5f}, .magnitude = 1.25f};
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  const Value a = b.rope(x, one, 8, kernels::RopePairs::kHalves);
  b.rope(a, one, 16, kernels::RopePairs::kAdjacent);
  b.rope(x, two, 8, kernels::RopePairs::kHalves);
  const Program program = finish(b, x).value();
  EXPECT_EQ(count_ops(program, "rope_table"), 2);
  EXPECT_EQ(program.ropes.size(), 2u);
}

TEST_F(BuilderTest, EachAttentionIsALayerOfMemory) {
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  const Value k = b.slice(x, 0, 16);
  b.attention(x, k, k, {.n_head = 8, .n_head_kv = 2, .d_k = 8, .d_v = 8});
  b.attention(x, k, k, {.n_head = 8, .n_head_kv = 2, .d_k = 8, .d_v = 8, .window = 5});
  const Program program = finish(b, x).value();
  ASSERT_EQ(program.kv_layers.size(), 2u);
  EXPECT_EQ(program.kv_layers[1].window, 5);
  EXPECT_EQ(program.kv_layers[1].n_head_kv, 2);
}

TEST_F(BuilderTest, ValuesOfSmallTensorsCanBeRead) {
  source.add("factors.weight", {4}, {1, 2, 3, 4});
  source.add("ids.weight", {4}, std::vector<float>(4), ElementType::kI32);
  const ProgramBuilder b(source, ActivationSetting::kInt8);
  EXPECT_THAT(b.read_values("factors.weight", 4).value(), ::testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(b.read_values("factors.weight", 5).error().message,
              AllOf(HasSubstr("factors.weight"), HasSubstr("4"), HasSubstr("5")));
  EXPECT_THAT(b.read_values("ids.weight", 4).error().message, HasSubstr("I32"));
  EXPECT_THAT(b.read_values("none.weight", 4).error().message, HasSubstr("none.weight is missing"));
}

TEST_F(BuilderTest, ATapOfAViewKeepsItsOwner) {
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  const Value half = b.slice(x, 32, 32);
  b.tap(half, "half");
  const Program program = finish(b, x).value();
  EXPECT_TRUE(program.info(x).tap);
  EXPECT_EQ(program.info(half).name, "half");
}

using BuilderDeathTest = BuilderTest;

TEST_F(BuilderDeathTest, MismatchedColumnsAreAProgrammerError) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  ProgramBuilder b(source, ActivationSetting::kInt8);
  const Value x = input(b);
  EXPECT_DEATH(b.add(x, b.slice(x, 0, 32)), "check failed");
  EXPECT_DEATH(b.slice(x, 60, 8), "check failed");
}

}  // namespace
}  // namespace quire::graph

#include "graph/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "unit/graph/memory_source.h"
#include "unit/graph/random_program.h"

namespace quire::graph {
namespace {

using kernels::ActivationSetting;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MemorySource;
using ::testing::Not;

class PassesTest : public ::testing::Test {
 protected:
  PassesTest() : b(source, ActivationSetting::kInt8) {
    source.add_random("token_embd.weight", {64, 8});
    for (const char* name : {"blk.0.attn_q", "blk.0.attn_k", "blk.0.attn_v", "blk.0.attn_output"}) {
      source.add_random(std::string(name) + ".weight", {64, 64}, ElementType::kQ8_0);
      source.add_random(std::string(name) + ".bias", {64});
    }
    source.add_random("norm.weight", {64});
    source.add_random("head_norm.weight", {8});
    x = b.embed("token_embd.weight", 8, 64);
  }
  // Ends the program and runs the passes over it.
  void run(Value last, const std::vector<std::string>& off = {}) {
    program = std::move(b).finish(b.select_outputs(last)).value();
    before = describe(program);
    for (const PassReport& report : run_passes(program, off)) reports[report.name] = report;
  }
  int fired(const std::string& pass) { return reports.at(pass).fired; }
  Value linear(Value in, const std::string& name) { return b.linear(in, name + ".weight", 64); }

  MemorySource source;
  ProgramBuilder b;
  Value x;
  Program program;
  std::string before;
  std::map<std::string, PassReport> reports;
};

TEST_F(PassesTest, TheListNamesEveryPassInOrder) {
  run(x);
  std::vector<std::string> names;
  for (const PassInfo& info : pass_list()) {
    names.push_back(info.name);
    EXPECT_GT(std::string(info.about).size(), 10u);
    EXPECT_TRUE(reports.count(info.name) == 1 && reports[info.name].enabled);
  }
  EXPECT_THAT(names, ElementsAre("fuse-linear", "fuse-add-norm"));
}

TEST_F(PassesTest, LinearLayersOfOneInputBecomeOne) {
  const Value q = linear(x, "blk.0.attn_q");
  const Value k = linear(x, "blk.0.attn_k");
  const Value v = linear(x, "blk.0.attn_v");
  run(b.add(b.add(q, k), v));
  EXPECT_EQ(fired("fuse-linear"), 2);
  EXPECT_THAT(describe(program), HasSubstr("linear blk.0.attn_q|attn_k|attn_v:"));
  for (const Op& op : program.ops) {
    if (!std::holds_alternative<LinearAttrs>(op.attrs)) continue;
    EXPECT_THAT(op.outputs, ElementsAre(q, k, v));
    EXPECT_EQ(op.inputs.size(), 3u);
    ASSERT_EQ(op.weights.size(), 3u);
    EXPECT_EQ(program.weights[static_cast<size_t>(op.weights[2].id)].name, "blk.0.attn_v.weight");
  }
}

TEST_F(PassesTest, OpsThatDoNotMatterMayStandBetween) {
  const Value q = b.linear_bias(x, "blk.0.attn_q.weight", "blk.0.attn_q.bias", 64);
  const Value k = b.linear_bias(x, "blk.0.attn_k.weight", "blk.0.attn_k.bias", 64);
  const Value v = b.linear_bias(b.scale(x, 1), "blk.0.attn_v.weight", "blk.0.attn_v.bias", 64);
  run(b.add(b.add(q, k), v));
  // v reads a value that is made after q's linear layer, from x: not available where q and k run.
  EXPECT_EQ(fired("fuse-linear"), 1);
  EXPECT_THAT(describe(program), HasSubstr("linear blk.0.attn_q|attn_k:"));
}

TEST_F(PassesTest, DependentLinearLayersStayApart) {
  const Value q = linear(x, "blk.0.attn_q");
  const Value k = linear(q, "blk.0.attn_k");
  run(linear(b.slice(k, 0, 64), "blk.0.attn_v"));  // through a view
  EXPECT_EQ(fired("fuse-linear"), 0);
}

TEST_F(PassesTest, ADependenceThroughOtherOpsKeepsThemApart) {
  const Value q = linear(x, "blk.0.attn_q");
  const Value n = b.rms_norm(b.slice(b.scale(q, 2), 0, 64), "norm.weight", 1e-5f);
  run(linear(n, "blk.0.attn_k"));
  EXPECT_EQ(fired("fuse-linear"), 0);
}

TEST_F(PassesTest, LayersOnDifferentRowsStayApart) {
  const Value selected = b.select_outputs(x);
  const Value q = linear(x, "blk.0.attn_q");
  b.tap(q, "q");
  const Value k = linear(selected, "blk.0.attn_k");
  program = std::move(b).finish(k).value();
  const std::vector<PassReport> list = run_passes(program, {});
  EXPECT_EQ(list[0].fired, 0);
}

TEST_F(PassesTest, LayersThatSeeDifferentPlanesStayApart) {
  const Value q = linear(x, "blk.0.attn_q");
  b.set_planes(kernels::ActivationPlanes::kTwo);
  const Value k = linear(x, "blk.0.attn_k");
  const Value v = linear(x, "blk.0.attn_v");
  run(b.add(b.add(q, k), v));
  EXPECT_EQ(fired("fuse-linear"), 1);
  EXPECT_THAT(describe(program), HasSubstr("linear blk.0.attn_k|attn_v:"));
}

TEST_F(PassesTest, AGroupHoldsNoMoreThanAnOpTakes) {
  std::vector<Value> all;
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("w{}.weight", i);
    source.add_random(name, {64, 64});
    all.push_back(b.linear(x, name, 64));
  }
  Value sum = all[0];
  for (size_t i = 1; i < all.size(); ++i) sum = b.add(sum, all[i]);
  run(sum);
  size_t n = 0;
  for (const Op& op : program.ops) {
    if (!std::holds_alternative<LinearAttrs>(op.attrs)) continue;
    EXPECT_LE(op.weights.size(), kMaxLinears);
    n += op.weights.size();
  }
  EXPECT_EQ(n, 40u);
  EXPECT_GT(fired("fuse-linear"), 30);
}

TEST_F(PassesTest, ASumAndItsNormBecomeOne) {
  const Value sum = b.add(x, x, 0.25f);
  const Value n = b.rms_norm(sum, "norm.weight", 1e-3f);
  run(b.add(sum, n));
  EXPECT_EQ(fired("fuse-add-norm"), 1);
  const auto it = std::find_if(program.ops.begin(), program.ops.end(), [](const Op& op) {
    return std::holds_alternative<AddRmsNormAttrs>(op.attrs);
  });
  ASSERT_NE(it, program.ops.end());
  EXPECT_EQ(std::get<AddRmsNormAttrs>(it->attrs).b_scale, 0.25f);
  EXPECT_EQ(std::get<AddRmsNormAttrs>(it->attrs).eps, 1e-3f);
  EXPECT_THAT(it->outputs, ElementsAre(sum, n));
  EXPECT_EQ(it->weights.size(), 1u);
}

TEST_F(PassesTest, NormsThatAreNotOfTheSumStayApart) {
  const Value sum = b.add(x, x);
  const Value other = b.rms_norm(x, "norm.weight", 1e-5f);  // of another value
  const Value sum2 = b.add(sum, other);
  const Value per_head = b.rms_norm(sum2, "head_norm.weight", 1e-5f, 8);  // in groups
  const Value sum3 = b.add(per_head, x);
  const Value plain = b.rms_norm_plain(sum3, 1e-5f);  // without weight
  const Value sum4 = b.add(plain, x);
  const Value scaled = b.scale(sum4, 2);  // something between
  run(b.add(b.rms_norm(sum4, "norm.weight", 1e-5f), scaled));
  EXPECT_EQ(fired("fuse-add-norm"), 0);
  EXPECT_EQ(describe(program), before);
}

TEST_F(PassesTest, ASwitchedOffPassDoesNothingAndSaysSo) {
  const Value q = linear(x, "blk.0.attn_q");
  const Value k = linear(x, "blk.0.attn_k");
  const Value n = b.rms_norm(b.add(q, k), "norm.weight", 1e-5f);
  run(n, {"fuse-linear", "fuse-add-norm", "no-such-pass"});
  EXPECT_EQ(describe(program), before);
  for (const auto& [name, report] : reports) {
    EXPECT_FALSE(report.enabled) << name;
    EXPECT_EQ(report.fired, 0) << name;
  }
}

TEST_F(PassesTest, OnePassOffLeavesTheOther) {
  const Value q = linear(x, "blk.0.attn_q");
  const Value k = linear(x, "blk.0.attn_k");
  const Value n = b.rms_norm(b.add(q, k), "norm.weight", 1e-5f);
  run(n, {"fuse-linear"});
  EXPECT_FALSE(reports["fuse-linear"].enabled);
  EXPECT_EQ(fired("fuse-add-norm"), 1);
  EXPECT_THAT(describe(program), Not(HasSubstr("|")));
}

// What a program computes, op by op, however it is grouped: (kind, inputs, output, weight).
std::multiset<std::string> steps_of(const Program& program) {
  std::multiset<std::string> steps;
  const auto id = [](Value value) { return value.id; };
  for (const Op& op : program.ops) {
    if (std::holds_alternative<LinearAttrs>(op.attrs)) {
      for (size_t i = 0; i < op.weights.size(); ++i) {
        steps.insert(
            fmt::format("linear {} -> {} by {}", id(op.inputs[i]), id(op.outputs[i]), op.weights[i].id));
      }
    } else if (std::holds_alternative<ExpertLinearAttrs>(op.attrs)) {
      const size_t n_outputs = op.outputs.size() * 2 / op.weights.size();  // of a layer: two with planes
      for (size_t i = 0; i < op.weights.size(); i += 2) {
        steps.insert(fmt::format("expert_linear {} {} -> {} by {}", id(op.inputs[i]), id(op.inputs[i + 1]),
                                 id(op.outputs[i / 2 * n_outputs]), op.weights[i].id));
      }
    } else if (std::holds_alternative<AddRmsNormAttrs>(op.attrs)) {
      steps.insert(fmt::format("add {} {} -> {}", id(op.inputs[0]), id(op.inputs[1]), id(op.outputs[0])));
      steps.insert(
          fmt::format("rms_norm {} -> {} by {}", id(op.outputs[0]), id(op.outputs[1]), op.weights[0].id));
    } else {
      std::string step = op_name(op);
      for (Value value : op.inputs) step += fmt::format(" {}", id(value));
      if (!op.outputs.empty()) step += fmt::format(" -> {}", id(op.outputs[0]));
      if (!op.weights.empty()) step += fmt::format(" by {}", op.weights[0].id);
      steps.insert(step);
    }
  }
  return steps;
}

// Whether every value is made before it is read, once, and each layer's keys are stored before they are used.
void check_order(const Program& program) {
  std::set<int32_t> made;
  std::set<int32_t> stored;
  for (const Op& op : program.ops) {
    for (Value value : op.inputs)
      EXPECT_TRUE(made.count(program.root(value).id)) << op.label << " reads " << value.id;
    for (Value value : op.outputs) EXPECT_TRUE(made.insert(value.id).second) << op.label;
    if (const auto* store = std::get_if<StoreKvAttrs>(&op.attrs)) stored.insert(store->kv_layer);
    if (const auto* attention = std::get_if<AttentionAttrs>(&op.attrs)) {
      EXPECT_TRUE(stored.count(attention->kv_layer)) << op.label;
    }
  }
}

TEST(RandomPrograms, PassesKeepTheStepsAndALegalOrder) {
  MemorySource source;
  testing::add_random_program_tensors(source);
  int linear = 0;
  int add_norm = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Program program = testing::random_program(source, seed, 40);
    const std::multiset<std::string> before = steps_of(program);
    check_order(program);
    const std::vector<PassReport> reports = run_passes(program, {});
    check_order(program);
    EXPECT_EQ(steps_of(program), before);
    linear += reports[0].fired;
    add_norm += reports[1].fired;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(linear, 100);
  EXPECT_GT(add_norm, 100);
}

}  // namespace
}  // namespace quire::graph

// Every row operation, on every ISA: bits equal to scalar, whatever the split of rows, the stride or the
// aliasing.
#include <gtest/gtest.h>

#include "kernel_values.h"
#include "kernels/kernel_table.h"
#include "row_cases.h"

namespace quire::kernels::test {
namespace {

const RowOps& ops_of(Isa isa) { return kernel_table(isa).rows; }

std::vector<int64_t> column_counts(const RowCase& row_case) {
  std::vector<int64_t> counts;
  for (int64_t n = 1; n <= 70; ++n) counts.push_back(n);
  for (int64_t n : {128, 256, 576, 640, 1536, 2049}) counts.push_back(n);
  std::erase_if(counts, [&](int64_t n) { return n % row_case.col_multiple != 0 || n > row_case.max_cols; });
  return counts;
}

void expect_same(const std::vector<float>& want, const std::vector<float>& got, const char* what) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(same_bits(want[i], got[i])) << what << "[" << i << "]: " << want[i] << " vs " << got[i];
  }
}

// All a call may write, including what lies between rows and must stay as it was.
void expect_same_outputs(const RowBuffers& want, const RowBuffers& got) {
  expect_same(want.y, got.y, "y");
  expect_same(want.sum, got.sum, "sum");
  expect_same(want.a, got.a, "a");
  ASSERT_EQ(want.ids, got.ids);
}

class RowOpsTest : public testing::TestWithParam<std::tuple<RowCase, Isa>> {
 protected:
  const RowCase& row_case() const { return std::get<0>(GetParam()); }
  Isa isa() const { return std::get<1>(GetParam()); }
  const RowOps& ops() const { return ops_of(isa()); }
};

TEST_P(RowOpsTest, BitsEqualScalarForEveryColumnCount) {
  if (isa() == Isa::kScalar) GTEST_SKIP() << "scalar is what the others are compared with";
  for (Values values : {Values::kOrdinary, Values::kHostile}) {
    for (int64_t n_cols : column_counts(row_case())) {
      const RowBuffers start = make_buffers(row_case(), 3, n_cols, values, static_cast<uint32_t>(n_cols));
      RowBuffers want = start, got = start;
      row_case().run(ops_of(Isa::kScalar), want, Output::kSeparate, 0, start.n_rows);
      row_case().run(ops(), got, Output::kSeparate, 0, start.n_rows);
      SCOPED_TRACE(testing::Message() << "n_cols " << n_cols);
      expect_same_outputs(want, got);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(RowOpsTest, AnySplitOfTheRowsGivesTheSameBits) {
  for (int64_t n_cols : {4, 36, 64, 576}) {
    const RowBuffers start = make_buffers(row_case(), 7, n_cols, Values::kOrdinary, 17);
    RowBuffers whole = start;
    row_case().run(ops(), whole, Output::kSeparate, 0, 7);
    for (int64_t cut = 0; cut <= 7; ++cut) {
      RowBuffers parts = start;
      row_case().run(ops(), parts, Output::kSeparate, cut, 7);
      row_case().run(ops(), parts, Output::kSeparate, 0, cut);
      expect_same_outputs(whole, parts);
    }
  }
}

TEST_P(RowOpsTest, WritingOverTheInputGivesTheSameBits) {
  if (!row_case().in_place) return;
  for (int64_t n_cols : {4, 20, 64, 100}) {
    const RowBuffers start = make_buffers(row_case(), 3, n_cols, Values::kOrdinary, 23);
    RowBuffers apart = start, over = start;
    row_case().run(ops(), apart, Output::kSeparate, 0, 3);
    row_case().run(ops(), over, Output::kInPlace, 0, 3);
    const std::vector<float>& first_output =
        row_case().name.starts_with("add_rms_norm") ? apart.sum : apart.y;
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t col = 0; col < start.width; ++col) {
        const size_t i = static_cast<size_t>(row * start.ld + col);
        ASSERT_TRUE(same_bits(first_output[i], over.a[i])) << "row " << row << " column " << col;
      }
    }
  }
}

TEST_P(RowOpsTest, IsCloseToTheTruth) {
  if (!row_case().truth) return;
  for (int64_t n_cols : {4, 64, 576}) {
    RowBuffers b = make_buffers(row_case(), 3, n_cols, Values::kOrdinary, 31);
    const std::vector<double> truth = row_case().truth(b);
    row_case().run(ops(), b, Output::kSeparate, 0, 3);
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t col = 0; col < b.width; ++col) {
        const double want = truth[static_cast<size_t>(row * b.width + col)];
        const double got = b.y[static_cast<size_t>(row * b.ld + col)];
        ASSERT_LE(std::abs(got - want), row_case().tolerance * std::max(std::abs(want), 1.0))
            << "row " << row << " column " << col << " of " << n_cols << ": " << got << " vs " << want;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RowOpsTest,
    testing::Combine(testing::ValuesIn(row_cases()),
                     testing::ValuesIn(supported_isas().begin(), supported_isas().end())),
    [](const auto& info) { return std::get<0>(info.param).name + "_" + isa_name(std::get<1>(info.param)); });

class RowOpsIsaTest : public testing::TestWithParam<Isa> {};

TEST_P(RowOpsIsaTest, AddRmsNormIsAddThenRmsNorm) {
  const RowOps& ops = ops_of(GetParam());
  const RowCase plain;
  for (int64_t n_cols : {1, 15, 16, 17, 576}) {
    for (float b_scale : {1.0f, 0.3f}) {
      RowBuffers fused = make_buffers(plain, 2, n_cols, Values::kOrdinary, 41);
      RowBuffers apart = fused;
      ops.add_rms_norm({.a = fused.a.data(),
                        .ld_a = fused.ld,
                        .b = fused.b.data(),
                        .ld_b = fused.ld,
                        .b_scale = b_scale,
                        .sum = fused.sum.data(),
                        .ld_sum = fused.ld,
                        .y = fused.y.data(),
                        .ld_y = fused.ld,
                        .weight = fused.weight.data(),
                        .n_cols = n_cols,
                        .eps = 1e-5f},
                       0, 2);
      ops.add({.a = apart.a.data(),
               .ld_a = apart.ld,
               .b = apart.b.data(),
               .ld_b = apart.ld,
               .y = apart.sum.data(),
               .ld_y = apart.ld,
               .n_cols = n_cols,
               .b_scale = b_scale},
              0, 2);
      ops.rms_norm({.x = apart.sum.data(),
                    .ld_x = apart.ld,
                    .y = apart.y.data(),
                    .ld_y = apart.ld,
                    .weight = apart.weight.data(),
                    .n_groups = 1,
                    .n_cols = n_cols,
                    .eps = 1e-5f},
                   0, 2);
      expect_same_outputs(fused, apart);
    }
  }
}

TEST_P(RowOpsIsaTest, PlainAddIsExactlyAPlusB) {
  const RowOps& ops = ops_of(GetParam());
  RowBuffers b = make_buffers(RowCase{}, 1, 500, Values::kHostile, 43);
  ops.add({.a = b.a.data(),
           .ld_a = b.ld,
           .b = b.b.data(),
           .ld_b = b.ld,
           .y = b.y.data(),
           .ld_y = b.ld,
           .n_cols = 500,
           .b_scale = 1.0f},
          0, 1);
  for (size_t i = 0; i < 500; ++i)
    ASSERT_TRUE(same_bits(b.y[i], b.a[i] + b.b[i])) << b.a[i] << " + " << b.b[i];
}

int32_t argmax_of(const RowOps& ops, const std::vector<float>& x) {
  int32_t id = -1;
  const int64_t n = static_cast<int64_t>(x.size());
  ops.argmax({.x = x.data(), .ld_x = n, .ids = &id, .n_cols = n}, 0, 1);
  return id;
}

TEST_P(RowOpsIsaTest, ArgmaxTakesTheLowestOfEqualsAndNeverANan) {
  const RowOps& ops = ops_of(GetParam());
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t n = 1; n <= 70; ++n) {
    for (size_t at = 0; at < n; ++at) {
      std::vector<float> x(n, -3.0f);
      x[at] = -1.0f;
      ASSERT_EQ(argmax_of(ops, x), static_cast<int32_t>(at));
      x[n - 1] = -1.0f;
      ASSERT_EQ(argmax_of(ops, x), static_cast<int32_t>(at));
      x[(at + 1) % n] = nan;
      ASSERT_EQ(argmax_of(ops, x), n == 1 ? 0 : static_cast<int32_t>(at));
    }
  }
  EXPECT_EQ(argmax_of(ops, {nan, nan, -inf, nan}), 2);
  EXPECT_EQ(argmax_of(ops, {nan, nan}), 0);
  EXPECT_EQ(argmax_of(ops, {1.0f, inf, inf}), 1);
  EXPECT_EQ(argmax_of(ops, {-0.0f, 0.0f}), 0);
  EXPECT_EQ(argmax_of(ops, std::vector<float>(40, -inf)), 0);
}

struct Routed {
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

Routed route(const RowOps& ops, const std::vector<float>& logits, RouteArgs args) {
  const auto n_used = static_cast<size_t>(args.n_used);
  Routed out{.ids = std::vector<int32_t>(n_used, -1), .weights = std::vector<float>(n_used, -1)};
  args.logits = logits.data();
  args.ld_logits = args.n_expert = static_cast<int64_t>(logits.size());
  args.ids = out.ids.data();
  args.weights = out.weights.data();
  ops.route(args, 0, 1);
  return out;
}

constexpr RouteArgs kTopTwo = {.n_used = 2,
                               .n_groups = 1,
                               .n_groups_used = 1,
                               .gating = Gating::kSoftmax,
                               .normalise = GateWeights::kPlain,
                               .scale = 1.0f};

TEST_P(RowOpsIsaTest, RoutingTakesTheHighestAndOfEqualsTheLowestId) {
  const RowOps& ops = ops_of(GetParam());
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(route(ops, {1, 5, 3, 4}, kTopTwo).ids, (Ids{1, 3}));
  EXPECT_EQ(route(ops, {2, 7, 7, 7}, kTopTwo).ids, (Ids{1, 2}));
  EXPECT_EQ(route(ops, {2, 2, 9, 2}, kTopTwo).ids, (Ids{2, 0}));
  EXPECT_EQ(route(ops, std::vector<float>(100, -4.0f), kTopTwo).ids, (Ids{0, 1}));
  for (Gating gating : {Gating::kSoftmax, Gating::kSigmoid, Gating::kSoftmaxOfSelected}) {
    RouteArgs args = kTopTwo;
    args.gating = gating;
    EXPECT_EQ(route(ops, {nan, nan, nan}, args).ids, (Ids{0, 1}));
    EXPECT_EQ(route(ops, {-inf, -inf, -inf}, args).ids, (Ids{0, 1}));
    if (gating != Gating::kSoftmax) EXPECT_EQ(route(ops, {nan, -1, 2, nan}, args).ids, (Ids{2, 1}));
  }
}

TEST_P(RowOpsIsaTest, RoutingWeightsAreWhatTheGatingSays) {
  const RowOps& ops = ops_of(GetParam());
  const std::vector<float> logits = {0.5f, 2.0f, -1.0f, 1.0f};
  const double e0 = std::exp(0.5), e1 = std::exp(2.0), e2 = std::exp(-1.0), e3 = std::exp(1.0);
  RouteArgs args = kTopTwo;
  Routed out = route(ops, logits, args);
  EXPECT_NEAR(out.weights[0], e1 / (e0 + e1 + e2 + e3), 1e-6);
  EXPECT_NEAR(out.weights[1], e3 / (e0 + e1 + e2 + e3), 1e-6);
  args.normalise = GateWeights::kSumToOne;
  args.scale = 2.5f;
  out = route(ops, logits, args);
  EXPECT_NEAR(out.weights[0], 2.5 * e1 / (e1 + e3), 1e-6);
  EXPECT_NEAR(out.weights[1], 2.5 * e3 / (e1 + e3), 1e-6);
  args.normalise = GateWeights::kPlain;
  args.gating = Gating::kSoftmaxOfSelected;
  EXPECT_NEAR(route(ops, logits, args).weights[0], 2.5 * e1 / (e1 + e3), 1e-6);
  args.gating = Gating::kSigmoid;
  EXPECT_NEAR(route(ops, logits, args).weights[1], 2.5 * e3 / (1 + e3), 1e-6);
  // Weights too small to divide by are not blown up to 1.
  args.normalise = GateWeights::kSumToOne;
  args.scale = 1.0f;
  EXPECT_NEAR(route(ops, {-20.0f, -30.0f}, args).weights[0], std::exp(-20.0) * 0x1p14, 1e-9);
}

TEST_P(RowOpsIsaTest, ABiasDecidesTheChoiceAndNotTheWeights) {
  RouteArgs args = kTopTwo;
  const std::vector<float> bias = {0, 0, 0.9f, 0};
  args.selection_bias = bias.data();
  args.gating = Gating::kSigmoid;
  const Routed out = route(ops_of(GetParam()), {0.5f, 2.0f, -1.0f, 1.0f}, args);
  EXPECT_EQ(out.ids, (std::vector<int32_t>{2, 1}));
  EXPECT_NEAR(out.weights[0], 1 / (1 + std::exp(1.0)), 1e-6);
}

TEST_P(RowOpsIsaTest, ExpertsOfTheBestGroupsOnly) {
  RouteArgs args = kTopTwo;
  args.gating = Gating::kSoftmaxOfSelected;
  args.n_groups = 3;
  args.n_groups_used = 1;
  // The middle group has the largest sum of two, the last one the largest value.
  EXPECT_EQ(route(ops_of(GetParam()), {1, 1, 1, 3, 0, 3, 5, 0, 0}, args).ids, (std::vector<int32_t>{3, 5}));
  args.n_groups_used = 2;
  EXPECT_EQ(route(ops_of(GetParam()), {1, 1, 1, 3, 0, 3, 5, 0, 0}, args).ids, (std::vector<int32_t>{6, 3}));
  args.n_groups = 9;
  args.n_groups_used = 3;  // groups of one
  EXPECT_EQ(route(ops_of(GetParam()), {1, 1, 1, 3, 0, 3, 5, 0, 0}, args).ids, (std::vector<int32_t>{6, 3}));
}

INSTANTIATE_TEST_SUITE_P(Isas, RowOpsIsaTest,
                         testing::ValuesIn(supported_isas().begin(), supported_isas().end()),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace quire::kernels::test

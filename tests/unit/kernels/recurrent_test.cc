// Every recurrence, on every ISA: bits equal to scalar, whatever the cut into steps, the order of units and
// the slots that states are left in.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/kernel_table.h"
#include "recurrent_cases.h"

namespace quire::kernels::test {
namespace {

constexpr int64_t kRows = 23;
constexpr int32_t kSlots = 6;

RecurrentInputs make_inputs(const RecurrentCase& c) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(0.0f, 1.0f);
  RecurrentInputs in{.n_rows = kRows, .ld = c.n_in + 5};
  in.rows.resize(static_cast<size_t>(kRows * in.ld));
  in.weights.resize(static_cast<size_t>(c.n_weights));
  // Mostly positive steps and negative decays keep states bounded.
  for (float& x : in.rows) x = value(random) - 0.25f;
  for (float& w : in.weights) w = c.name.starts_with("conv") ? value(random) - 0.5f : -value(random);
  return in;
}

// States of a layer in a few slots, and outputs, which start as what nobody should read.
struct States {
  explicit States(const RecurrentCase& c)
      : states(static_cast<size_t>(kSlots * c.state_floats), std::nanf("")),
        y(static_cast<size_t>(kRows * c.n_out), std::nanf("")),
        slots(kRows) {}

  void rows(const RecurrentCase& c, const RecurrentOps& ops, const RecurrentInputs& in, const StateSpan& span,
            int64_t unit_begin, int64_t unit_end) {
    const StateSlots state{.states = states.data(), .stride = c.state_floats, .slots = slots.data()};
    c.run(ops, state, in, y.data(), span, unit_begin, unit_end);
  }
  std::vector<float> state(const RecurrentCase& c, int32_t slot) const {
    const auto begin = states.begin() + static_cast<std::ptrdiff_t>(slot * c.state_floats);
    return {begin, begin + static_cast<std::ptrdiff_t>(c.state_floats)};
  }

  std::vector<float> states, y;
  std::vector<int32_t> slots;
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// All rows at once, in place in slot 0.
States whole(const RecurrentCase& c, const RecurrentOps& ops, const RecurrentInputs& in) {
  States run(c);
  run.rows(c, ops, in, {.row_begin = 0, .row_end = kRows}, 0, c.n_units);
  return run;
}

class RecurrentTest : public testing::TestWithParam<std::tuple<RecurrentCase, Isa>> {
 protected:
  const RecurrentCase& c() const { return std::get<0>(GetParam()); }
  const RecurrentOps& ops() const { return kernel_table(std::get<1>(GetParam())).recurrent; }
  const RecurrentInputs in = make_inputs(c());
};

TEST_P(RecurrentTest, BitsEqualScalarAndTheTruthIsNear) {
  const States got = whole(c(), ops(), in);
  const States want = whole(c(), kernel_table(Isa::kScalar).recurrent, in);
  EXPECT_TRUE(same(got.y, want.y));
  EXPECT_TRUE(same(got.state(c(), 0), want.state(c(), 0)));
  const std::vector<double> truth = c().truth(in);
  double largest = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    ASSERT_NEAR(got.y[i], truth[i], 5e-5 * std::max(1.0, std::fabs(truth[i]))) << i;
    largest = std::max(largest, std::fabs(truth[i]));
  }
  EXPECT_GT(largest, 0.05) << "too little to tell";
}

TEST_P(RecurrentTest, AnyCutIntoStepsGivesTheSameBits) {
  const States expected = whole(c(), ops(), in);
  for (int32_t chunk : {1, 2, 3, 7, 16}) {
    States run(c());
    for (int32_t begin = 0; begin < kRows; begin += chunk) {
      const auto end = std::min<int32_t>(kRows, begin + chunk);
      run.rows(c(), ops(), in, {.row_begin = begin, .row_end = end, .source = begin == 0 ? -1 : 0}, 0,
               c().n_units);
    }
    EXPECT_TRUE(same(run.y, expected.y)) << chunk;
    EXPECT_TRUE(same(run.state(c(), 0), expected.state(c(), 0))) << chunk;
  }
}

TEST_P(RecurrentTest, UnitsMayBeDoneInAnyOrder) {
  const States expected = whole(c(), ops(), in);
  States run(c());
  for (int64_t unit = c().n_units - 1; unit >= 0; --unit)
    run.rows(c(), ops(), in, {.row_begin = 0, .row_end = kRows}, unit, unit + 1);
  EXPECT_TRUE(same(run.y, expected.y));
  EXPECT_TRUE(same(run.state(c(), 0), expected.state(c(), 0)));
}

// What is left in a slot on the way is the state of a run that ended there, also where the slot a span starts
// from is written again.
TEST_P(RecurrentTest, StatesAreLeftWhereTheStepSays) {
  const States expected = whole(c(), ops(), in);
  States run(c());
  run.rows(c(), ops(), in, {.row_begin = 0, .row_end = 5}, 0, c().n_units);
  // Rows 5..10: slot 0 in place, 3 left behind, 0 again, then one slot a row.
  const std::vector<int32_t> way = {0, 3, 0, 0, 1, 2};
  std::copy(way.begin(), way.end(), run.slots.begin() + 5);
  run.rows(c(), ops(), in, {.row_begin = 5, .row_end = 11, .source = 0}, 0, c().n_units);
  for (const auto& [slot, n_rows] : {std::pair{3, 7}, {0, 9}, {1, 10}, {2, 11}}) {
    States until(c());
    until.rows(c(), ops(), in, {.row_begin = 0, .row_end = n_rows}, 0, c().n_units);
    EXPECT_TRUE(same(run.state(c(), slot), until.state(c(), 0))) << "after " << n_rows << " rows";
  }
  // And a run goes on from any of them, leaving it as it is.
  const std::vector<float> before = run.state(c(), 3);
  std::fill(run.slots.begin(), run.slots.end(), 4);
  run.rows(c(), ops(), in, {.row_begin = 7, .row_end = kRows, .source = 3}, 0, c().n_units);
  EXPECT_TRUE(same(run.y, expected.y));
  EXPECT_TRUE(same(run.state(c(), 4), expected.state(c(), 0)));
  EXPECT_TRUE(same(run.state(c(), 3), before));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RecurrentTest,
    testing::Combine(testing::ValuesIn(recurrent_cases()),
                     testing::ValuesIn(supported_isas().begin(), supported_isas().end())),
    [](const auto& info) { return std::get<0>(info.param).name + "_" + isa_name(std::get<1>(info.param)); });

}  // namespace
}  // namespace quire::kernels::test

#include "cli/divergence_gate.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

const BaseComparison kComparison{
    .divergence = {.mean = {.mean = 0.002}, .median = 0.001, .p99 = 0.02, .max = 0.5},
    .same_top = {.mean = 0.98}};

bool passes(std::string_view text) {
  const Result<DivergenceGate> gate = DivergenceGate::parse(text);
  EXPECT_TRUE(gate.ok()) << text;
  bool all = true;
  for (const GateResult& result : gate->check(kComparison)) all = all && result.passed;
  return all;
}

TEST(DivergenceGate, HoldsEveryLimit) {
  EXPECT_TRUE(passes("mean=2e-3,median=0.001,p99=0.02,max=0.5,top=0.98"));
  EXPECT_FALSE(passes("mean=1.9e-3"));
  EXPECT_FALSE(passes("median=0.0009"));
  EXPECT_FALSE(passes("p99=0.019"));
  EXPECT_FALSE(passes("max=0.4"));
  EXPECT_FALSE(passes("top=0.981"));
  EXPECT_FALSE(passes("mean=1,top=0.99"));
}

TEST(DivergenceGate, SaysWhatWasFound) {
  const Result<DivergenceGate> gate = DivergenceGate::parse("mean=1e-3,top=0.9");
  ASSERT_TRUE(gate.ok());
  const std::vector<GateResult> results = gate->check(kComparison);
  EXPECT_EQ(results[0].text(), "mean 0.002, at most 0.001");
  EXPECT_EQ(results[1].text(), "top 0.98, at least 0.9");
}

TEST(DivergenceGate, RefusesWhatIsNoGate) {
  for (const char* text : {"", "mean", "mean=", "mean=x", "mean=1x", "mean=nan", "=1", "size=1", "mean=1,",
                           ",mean=1", "mean=1,mean=2", "mean=1 ,top=1"}) {
    EXPECT_FALSE(DivergenceGate::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace quire::cli

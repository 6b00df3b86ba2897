#include "sampling/log_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(LogSoftmax, ArgmaxTakesTheLowestIdOnTies) {
  for (size_t n = 1; n <= 40; ++n) {
    for (size_t first = 0; first < n; ++first) {
      std::vector<float> logits(n, -1.0f);
      for (size_t i = first; i < n; i += 3) logits[i] = 2.0f;
      EXPECT_EQ(argmax_logit(logits), static_cast<int32_t>(first));
    }
  }
}

TEST(LogSoftmax, ArgmaxIgnoresNan) {
  EXPECT_EQ(argmax_logit(std::vector<float>{kNan, -5.0f, kNan, -4.0f, kNan}), 3);
  EXPECT_EQ(argmax_logit(std::vector<float>{kNan, kInfinity, 3.0f}), 1);
  EXPECT_EQ(argmax_logit(std::vector<float>{kNan, -kInfinity}), -1);
  EXPECT_EQ(argmax_logit({}), -1);
  for (size_t at = 0; at < 20; ++at) {
    std::vector<float> logits(20, kNan);
    logits[at] = -1e30f;
    EXPECT_EQ(argmax_logit(logits), static_cast<int32_t>(at));
  }
}

TEST(LogSoftmax, ProbabilitiesMatchTheDefinition) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 5);
  for (const size_t n : {1u, 2u, 7u, 8u, 9u, 1000u}) {
    std::vector<float> logits(n);
    for (float& logit : logits) logit = normal(random);
    long double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<long double>(logit));
    double total = 0;
    for (size_t i = 0; i < n; ++i) {
      const float got = log_probability(logits, static_cast<int32_t>(i));
      EXPECT_NEAR(got, static_cast<double>(logits[i] - std::log(sum)), 2e-6) << n;
      total += std::exp(static_cast<double>(got));
    }
    EXPECT_NEAR(total, 1.0, 1e-5);
  }
}

TEST(LogSoftmax, ExcludedAndExtremeLogits) {
  const std::vector<float> logits = {kNan, 1.0f, -kInfinity, 1.0f};
  EXPECT_EQ(log_probability(logits, 0), -kInfinity);
  EXPECT_EQ(log_probability(logits, 2), -kInfinity);
  EXPECT_FLOAT_EQ(log_probability(logits, 1), -0.69314718f);
  EXPECT_EQ(log_probability(std::vector<float>{kInfinity, 0.0f}, 0), 0.0f);
  EXPECT_EQ(log_probability(std::vector<float>{3e38f, -3e38f}, 0), 0.0f);
}

}  // namespace
}  // namespace quire

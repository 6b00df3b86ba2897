#include "engine/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_logits(size_t n, uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// The same distribution, a little off.
std::vector<float> disturbed(std::vector<float> logits, uint32_t seed, float by) {
  const std::vector<float> noise = random_logits(logits.size(), seed, by);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] += noise[i];
  return logits;
}

double log_sum(const std::vector<float>& logits) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  return std::log(sum);
}

double plain_divergence(const std::vector<float>& p, const std::vector<float>& q) {
  const double p_sum = log_sum(p), q_sum = log_sum(q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = p[i] - p_sum;
    sum += std::exp(log_p) * (log_p - (q[i] - q_sum));
  }
  return sum;
}

TEST(BaseRow, KeepsWhatIsLikely) {
  const std::vector<float> logits = random_logits(50000, 1, 3);
  const BaseRow row = make_base_row(logits, 7);
  EXPECT_LT(row.kept.size(), logits.size() * 3 / 4);
  const double sum = log_sum(logits);
  EXPECT_NEAR(row.next_logprob, logits[7] - sum, 1e-5);
  double kept = 0;
  TokenId before = -1;
  for (const BaseRow::Kept& token : row.kept) {
    EXPECT_GT(token.id, before);
    before = token.id;
    const double logprob = logits[static_cast<size_t>(token.id)] - sum;
    EXPECT_NEAR(-token.code * static_cast<double>(kLogStep), logprob, kLogStep / 2 + 1e-5);
    kept += std::exp(logprob);
  }
  EXPECT_LE(1 - kept, kRestMass);
  EXPECT_NEAR(std::exp(row.rest_logprob), 1 - kept, 1e-7);
  for (const float logit : logits) EXPECT_LE(logit, logits[static_cast<size_t>(row.top)]);
}

TEST(BaseRow, OfASmallVocabularyKeepsNearlyAll) {
  const std::vector<float> logits = {1, 2, 3, -kInfinity, 2.5f};
  const BaseRow row = make_base_row(logits, 3);
  EXPECT_EQ(row.top, 2);
  EXPECT_EQ(row.next_logprob, -kInfinity);
  EXPECT_EQ(row.rest_logprob, -kInfinity);
  ASSERT_EQ(row.kept.size(), 4u);
  EXPECT_EQ(row.kept.back().id, 4);
}

TEST(Divergence, IsWithinTheBoundOfThePlainSum) {
  for (const float spread : {0.5f, 2.0f, 5.0f}) {
    for (const float by : {0.01f, 0.1f, 0.5f}) {
      const std::vector<float> p = random_logits(20000, 2, spread);
      const std::vector<float> q = disturbed(p, 3, by);
      const double expected = plain_divergence(p, q);
      const double found = divergence(make_base_row(p, 0), q);
      // The rest hides kRestMass times a divergence of about by^2 / 2; two of them for safety.
      EXPECT_LE(found, expected + 1e-6);
      EXPECT_GE(found, expected - kRestMass * by * by - 1e-6) << spread << " " << by;
    }
  }
}

TEST(Divergence, OfTheSameIsNothing) {
  for (const float spread : {0.1f, 1.0f, 8.0f, 40.0f}) {
    const std::vector<float> p = random_logits(5000, 4, spread);
    EXPECT_LT(divergence(make_base_row(p, 0), p), 1e-7) << spread;
  }
}

TEST(Divergence, IsNeverNegativeAndAlwaysFinite) {
  const std::vector<float> sure = {1000, 0, 0, -kInfinity};
  const std::vector<float> other = {-kInfinity, 1000, std::numeric_limits<float>::quiet_NaN(), 0};
  for (const std::vector<float>* p : {&sure, &other}) {
    for (const std::vector<float>* q : {&sure, &other}) {
      const double found = divergence(make_base_row(*p, 0), *q);
      EXPECT_GE(found, 0);
      EXPECT_TRUE(std::isfinite(found));
      if (p != q) {
        EXPECT_GT(found, 100);
      }
    }
  }
}

TEST(MeanWithError, IsTheUsualOne) {
  const double values[] = {1, 2, 3, 6};
  const MeanWithError found = mean_with_error(values);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_DOUBLE_EQ(found.error, std::sqrt(14.0 / 3 / 4));
  EXPECT_EQ(mean_with_error(std::span(values).first(1)).error, 0);
}

TEST(Perplexity, OfEqualChancesIsTheirNumber) {
  const std::vector<double> logprobs(10, -std::log(8.0));
  EXPECT_NEAR(perplexity_of(logprobs).value, 8, 1e-12);
  EXPECT_NEAR(perplexity_of(logprobs).error, 0, 1e-12);
}

TEST(DivergenceSummary, TakesPercentilesFromTheList) {
  std::vector<double> values;
  for (int i = 200; i >= 1; --i) values.push_back(i);
  const DivergenceSummary summary = summarize_divergence(values);
  EXPECT_EQ(summary.median, 100);
  EXPECT_EQ(summary.p99, 198);
  EXPECT_EQ(summary.max, 200);
  EXPECT_DOUBLE_EQ(summary.mean.mean, 100.5);
}

TEST(BaseComparison, PairsTheDifferences) {
  // Every token is worse by the same amount, so the difference has no error although the perplexities do.
  const ComparedTokens tokens{
      .logprob = {-2, -4, -7}, .base_logprob = {-1, -3, -6}, .divergence = {0, 0, 3}, .same_top = {1, 1, 0}};
  const BaseComparison comparison = summarize(tokens);
  EXPECT_DOUBLE_EQ(comparison.log_ratio.mean, 1);
  EXPECT_DOUBLE_EQ(comparison.log_ratio.error, 0);
  EXPECT_GT(comparison.perplexity.error, 0);
  EXPECT_NEAR(comparison.perplexity.value / comparison.base_perplexity.value, std::exp(1.0), 1e-12);
  EXPECT_NEAR(comparison.same_top.mean, 2.0 / 3, 1e-12);
  EXPECT_EQ(comparison.divergence.max, 3);
}

}  // namespace
}  // namespace quire

#include "cli/top_tokens.h"

#include <gtest/gtest.h>

#include <cmath>

namespace quire::cli {
namespace {

TEST(TopTokens, HighestFirstAndLowestIdAmongEquals) {
  const float logits[] = {1, 3, 2, 3, -5};
  const std::vector<TopToken> top = top_tokens(logits, 3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 3);
  EXPECT_EQ(top[2].id, 2);
  EXPECT_EQ(top[2].logit, 2.0f);
}

TEST(TopTokens, LogprobsSumToOneAndSurviveLargeLogits) {
  const float logits[] = {1000, 1001, 999, 998.5f};
  double sum = 0;
  for (const TopToken& token : top_tokens(logits, 10)) sum += std::exp(token.logprob);
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(top_tokens(logits, 10).size(), 4u);
}

}  // namespace
}  // namespace quire::cli

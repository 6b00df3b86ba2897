#include "sampling/top_logprobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "sampling/log_softmax.h"

namespace quire {
namespace {

TEST(TopLogprobs, IsTheFrontOfTheSortedRow) {
  std::mt19937 random(1);
  for (const int n_vocab : {1, 3, 20, 1000}) {
    std::vector<float> logits(static_cast<size_t>(n_vocab));
    for (float& logit : logits) logit = static_cast<float>(random() % 50) - 25;  // with ties
    std::vector<int32_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](int32_t id) { return logits[static_cast<size_t>(id)]; });
    std::array<TokenLogprob, 20> top;
    top_log_probabilities(logits, top);
    for (size_t i = 0; i < top.size(); ++i) {
      if (i >= logits.size()) {
        EXPECT_EQ(top[i].id, -1);
        continue;
      }
      EXPECT_EQ(top[i].id, order[i]);
      EXPECT_EQ(top[i].logprob, log_probability(logits, order[i]));
    }
  }
}

TEST(TopLogprobs, PassesOverWhatCannotBeChosen) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::array<float, 4> logits = {NAN, -kInfinity, 1.0f, kInfinity};
  std::array<TokenLogprob, 3> top;
  top_log_probabilities(logits, top);
  EXPECT_EQ(top[0].id, 3);
  EXPECT_EQ(top[1].id, 2);
  EXPECT_EQ(top[2].id, -1);
  top_log_probabilities(logits, {});
}

}  // namespace
}  // namespace quire

#include "measure/statistics.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

TEST(Spread, OfAnOddNumberIsTheMiddleOne) {
  const double values[] = {5, 1, 3};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.max, 5);
}

TEST(Spread, OfAnEvenNumberIsBetweenTheMiddleTwo) {
  const double values[] = {4, 1, 2, 8};
  EXPECT_EQ(spread_of(values).median, 3);
}

TEST(Quantile, IsAValueThatTheFractionIsNotAbove) {
  const double values[] = {9, 1, 3, 5, 7};
  EXPECT_EQ(quantile_of(values, 0), 1);
  EXPECT_EQ(quantile_of(values, 0.5), 5);
  EXPECT_EQ(quantile_of(values, 0.99), 7);
  EXPECT_EQ(quantile_of(values, 1), 9);
  EXPECT_EQ(quantile_of({}, 0.5), 0);
}

TEST(Spread, OfOneIsThatOne) {
  const double values[] = {7};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.min, spread.max);
}

}  // namespace
}  // namespace quire

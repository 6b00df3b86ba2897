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

TEST(Spread, OfOneIsThatOne) {
  const double values[] = {7};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.min, spread.max);
}

}  // namespace
}  // namespace quire

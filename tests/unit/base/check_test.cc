#include "base/check.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

TEST(CheckDeathTest, AbortsWithTheExpression) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int two = 2;
  EXPECT_DEATH(QUIRE_CHECK(two == 3), "check_test.cc:[0-9]+: check failed: two == 3");
  EXPECT_DEATH(check_failed("file.cc", 7, "x", "why"), "file.cc:7: check failed: x \\(why\\)");
}

TEST(Check, EvaluatesItsConditionOnceAndContinues) {
  int evaluated = 0;
  QUIRE_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace quire

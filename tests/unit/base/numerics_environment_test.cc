#include "base/numerics_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

namespace quire {
namespace {

// Volatile: the operation must happen at run time, under the environment of that moment.
float halve(float x) {
  volatile float value = x;
  value = value / 2.0f;
  return value;
}

// 1 + 2^-24 + 2^-26: just above the middle between 1 and the next float.
float add_above_half() {
  volatile float one = 1.0f;
  volatile float more = 0x1.4p-24f;
  return one + more;
}

TEST(NumericsEnvironment, KeepsDenormals) {
  set_numerics_environment();
  const float denormal = halve(std::numeric_limits<float>::min());
  EXPECT_GT(denormal, 0.0f);
  EXPECT_EQ(halve(denormal) * 4.0f, std::numeric_limits<float>::min());
}

TEST(NumericsEnvironment, ScopeRoundsToNearestAndRestoresTheCaller) {
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  EXPECT_EQ(add_above_half(), 1.0f);
  {
    const NumericsScope scope;
    EXPECT_EQ(add_above_half(), 1.0f + std::numeric_limits<float>::epsilon());
  }
  EXPECT_EQ(add_above_half(), 1.0f);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
}

#if defined(__x86_64__)
TEST(NumericsEnvironment, ScopeTurnsFlushToZeroOff) {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040u);  // FTZ and DAZ, as some libraries leave them
  EXPECT_EQ(halve(std::numeric_limits<float>::min()), 0.0f);
  {
    const NumericsScope scope;
    EXPECT_GT(halve(std::numeric_limits<float>::min()), 0.0f);
  }
  EXPECT_EQ(halve(std::numeric_limits<float>::min()), 0.0f);
  __builtin_ia32_ldmxcsr(before);
}
#endif

}  // namespace
}  // namespace quire

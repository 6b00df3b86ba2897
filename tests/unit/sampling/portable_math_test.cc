#include "sampling/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sampling/philox.h"

namespace quire {
namespace {

TEST(PortableMath, ExpIsAccurate) {
  for (int i = -708 * 64; i <= 709 * 64; ++i) {
    const double x = i / 64.0 + i * 1e-7;
    if (x <= -708.0 || x > 709.0) continue;
    const double want = std::exp(x);
    EXPECT_LE(std::fabs(portable_exp(x) - want), 1e-15 * want) << x;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
}

TEST(PortableMath, ExpIsZeroForExcludedEntries) {
  EXPECT_EQ(portable_exp(-708.0), 0.0);
  EXPECT_EQ(portable_exp(-1e300), 0.0);
  EXPECT_EQ(portable_exp(-std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(portable_exp(std::numeric_limits<double>::quiet_NaN()), 0.0);
}

TEST(PortableMath, LogIsAccurate) {
  for (int e = -1000; e <= 1000; ++e) {
    for (int i = 0; i < 16; ++i) {
      const double x = std::ldexp(1.0 + i / 16.0 + 1e-5 * e, e);
      const double want = std::log(x);
      EXPECT_LE(std::fabs(portable_log(x) - want), 1e-15 * std::fabs(want) + 1e-17) << x;
    }
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

// Known answers of the Random123 library.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformIsBelowOne) {
  EXPECT_EQ(uniform_from({0, 0, 7, 7}), 0.0);
  EXPECT_EQ(uniform_from({0xffffffff, 0xffffffff, 0, 0}), 1.0 - 0x1p-53);
}

}  // namespace
}  // namespace quire

#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace quire {
namespace {

constexpr uint32_t kAllHalves = 1u << 16;

// The value of an f16 by the definition of the format, independent of half.h.
double f16_value(uint32_t half) {
  const int exponent = static_cast<int>(half >> 10) & 31;
  const double mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

bool f16_is_nan(uint32_t half) { return (half & 0x7fff) > 0x7c00; }
bool bf16_is_nan(uint32_t half) { return (half & 0x7fff) > 0x7f80; }

TEST(Half, EveryF16HasItsValue) {
  for (uint32_t half = 0; half < kAllHalves; ++half) {
    const float value = f16_to_f32(static_cast<uint16_t>(half));
    if (f16_is_nan(half)) {
      EXPECT_TRUE(std::isnan(value)) << half;
      EXPECT_NE(f32_bits(value) & 0x00400000u, 0u) << "quiet " << half;
    } else if ((half & 0x7fff) == 0x7c00) {
      EXPECT_TRUE(std::isinf(value)) << half;
    } else {
      EXPECT_EQ(static_cast<double>(value), f16_value(half)) << half;
    }
    EXPECT_EQ(std::signbit(value), (half & 0x8000) != 0) << half;
  }
}

TEST(Half, EveryF16SurvivesTheRoundTrip) {
  for (uint32_t half = 0; half < kAllHalves; ++half) {
    const uint32_t back = f32_to_f16(f16_to_f32(static_cast<uint16_t>(half)));
    EXPECT_EQ(back, f16_is_nan(half) ? half | 0x200u : half);
  }
}

TEST(Half, EveryBf16SurvivesTheRoundTrip) {
  for (uint32_t half = 0; half < kAllHalves; ++half) {
    const float value = bf16_to_f32(static_cast<uint16_t>(half));
    EXPECT_EQ(f32_bits(value), half << 16);
    EXPECT_EQ(f32_to_bf16(value), bf16_is_nan(half) ? half | 0x40u : half);
  }
}

// Between two neighbours the middle goes to the even one and everything else to the nearer one.
TEST(Half, RoundingIsToNearestEvenBetweenAllF16Neighbours) {
  for (uint32_t low = 0; low < 0x7c00; ++low) {
    const uint32_t high = low + 1;  // 0x7c00, infinity, acts as 2^16 here
    const auto middle = static_cast<float>((f16_value(low) + f16_value(high)) / 2);
    const uint32_t even = (low & 1) == 0 ? low : high;
    for (const uint32_t sign : {0u, 0x8000u}) {
      const float s = sign == 0 ? 1.0f : -1.0f;
      EXPECT_EQ(f32_to_f16(s * middle), sign | even) << low;
      EXPECT_EQ(f32_to_f16(s * std::nextafter(middle, 0.0f)), sign | low) << low;
      EXPECT_EQ(f32_to_f16(s * std::nextafter(middle, 1e9f)), sign | high) << low;
    }
  }
}

TEST(Half, RoundingIsToNearestEvenBetweenAllBf16Neighbours) {
  for (uint32_t low = 0; low < 0x7f80; ++low) {
    const uint32_t middle = (low << 16) | 0x8000u;
    const uint32_t even = (low & 1) == 0 ? low : low + 1;
    for (const uint32_t sign : {0u, 0x8000u}) {
      EXPECT_EQ(f32_to_bf16(f32_from_bits((sign << 16) | middle)), sign | even) << low;
      EXPECT_EQ(f32_to_bf16(f32_from_bits((sign << 16) | (middle - 1))), sign | low) << low;
      EXPECT_EQ(f32_to_bf16(f32_from_bits((sign << 16) | (middle + 1))), sign | (low + 1)) << low;
    }
  }
}

TEST(Half, ExtremesOfF32) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f32_to_f16(infinity), 0x7c00);
  EXPECT_EQ(f32_to_f16(-infinity), 0xfc00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
  // A NaN whose payload lies below the bits that fit must not turn into infinity.
  EXPECT_EQ(f32_to_f16(f32_from_bits(0x7f800001u)), 0x7e00);
  EXPECT_EQ(f32_to_bf16(f32_from_bits(0xff800001u)), 0xffc0);
}

}  // namespace
}  // namespace quire

// Values that kernels must agree on, shared by the kernel tests: specials, random bit patterns, ordinary
// numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace quire::kernels::test {

inline const std::vector<float>& special_floats() {
  using Limits = std::numeric_limits<float>;
  static const std::vector<float> values = {0.0f,
                                            -0.0f,
                                            1.0f,
                                            -1.0f,
                                            0.5f,
                                            -0.5f,
                                            1.5f,
                                            2.5f,
                                            -2.5f,
                                            3.5f,
                                            Limits::infinity(),
                                            -Limits::infinity(),
                                            Limits::quiet_NaN(),
                                            Limits::max(),
                                            -Limits::max(),
                                            Limits::min(),
                                            -Limits::min(),
                                            Limits::denorm_min(),
                                            -Limits::denorm_min(),
                                            0x1.fffffcp-127f,
                                            65504.0f,
                                            65519.996f,
                                            65520.0f,
                                            -65520.0f,
                                            0x1p-24f,
                                            0x1p-25f,
                                            0x1.8p-25f,
                                            0x1.ffcp-15f,
                                            0x1.ffep-15f,
                                            2147483648.0f,
                                            -2147483648.0f,
                                            2147483520.0f,
                                            -2147484160.0f,
                                            8388607.5f,
                                            8388608.0f,
                                            -0.49999997f,
                                            0.49999997f,
                                            88.72f,
                                            88.73f,
                                            -87.4f,
                                            -103.9f,
                                            -104.1f,
                                            1e-20f,
                                            -1e20f};
  return values;
}

// Equal bits, or both NaN: the sign and payload of a NaN are not part of the contract.
inline bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Fills with ordinary values of mixed sizes.
inline void fill_ordinary(std::span<float> out, std::mt19937& rng) {
  std::normal_distribution<float> normal(0.0f, 2.0f);
  for (float& x : out) x = normal(rng) * (rng() % 16 == 0 ? 8.0f : 1.0f);
}

// Fills with specials, any bit pattern at all, and ordinary values, a third each.
inline void fill_hostile(std::span<float> out, std::mt19937& rng) {
  fill_ordinary(out, rng);
  for (float& x : out) {
    switch (rng() % 3) {
      case 0:
        x = special_floats()[rng() % special_floats().size()];
        break;
      case 1:
        x = std::bit_cast<float>(static_cast<uint32_t>(rng()));
        break;
      default:
        break;
    }
  }
}

}  // namespace quire::kernels::test

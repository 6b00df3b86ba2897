// Rounding to ternary digits, shared by TQ1_0 and TQ2_0.
//
// Pure functions with internal linkage.
#pragma once

#include <cmath>

#include "tensor/formats/codec.h"

namespace quire {

// 0, 1 or 2 for -1, 0 or +1 times the scale; nearest, half away from zero.
static inline int ternary_digit(float value, float inverse_scale) {
  return truncate_to(std::round(value * inverse_scale), -1, 1) + 1;
}

static inline float largest_magnitude(const float* values, int n) {
  float largest = 0.0f;
  for (int i = 0; i < n; ++i) largest = std::fabs(values[i]) > largest ? std::fabs(values[i]) : largest;
  return largest;
}

}  // namespace quire

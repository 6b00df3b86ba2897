// 4-bit floats (E2M1) and the 8-bit scales that go with them, as MXFP4 and NVFP4 use them.
//
// Both formats are read as doubled E2M1 values, which are integers, times half the scale; nothing is lost by
// that. Sources: OCP Microscaling Formats (MX) v1.0 for E2M1 and E8M0; NVFP4 uses E4M3 without sign. Pure
// functions with internal linkage.
#pragma once

#include <cstdint>

#include "tensor/half.h"

namespace quire {

// Twice the value of each E2M1 code; code 8 is the negative zero, read as zero.
constexpr int8_t kFp4Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of the E8M0 scale 2^(e - 127): 2^(e - 128), for e = 0 and 1 an f32 denormal.
static inline float e8m0_half(uint8_t e) { return f32_from_bits(e < 2 ? 0x00200000u << e : (e - 1u) << 23); }

// Half of the unsigned E4M3 scale: exponent bias 7, denormals, no infinity. Code 0x7f (NaN) and the codes
// above it never occur in a valid file; 0x7f reads as zero, the top bit is ignored.
static inline float ue4m3_half(uint8_t code) {
  const int exponent = (code >> 3) & 15;
  const int mantissa = code & 7;
  if ((code & 0x7f) == 0x7f) return 0.0f;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  // (1 + mantissa / 8) * 2^(exponent - 8)
  return f32_from_bits((static_cast<uint32_t>(exponent + 119) << 23) |
                       (static_cast<uint32_t>(mantissa) << 20));
}

}  // namespace quire

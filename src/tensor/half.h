// Conversions between f32 and the 16-bit floats of GGUF files: f16 (IEEE binary16) and bf16 (the top half of
// an f32).
//
// Exact in software on every ISA: rounding is to nearest, ties to even; a NaN stays a NaN and becomes quiet;
// denormals are kept. All functions have internal linkage, so code compiled for one ISA never leaks into
// another. Pure; thread safe.
//
//   float x = f16_to_f32(0x3c00);    // 1.0f
//   uint16_t h = f32_to_bf16(1.5f);  // 0x3fc0
#pragma once

#include <cstdint>

namespace quire {

static inline uint32_t f32_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
static inline float f32_from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

static inline float f16_to_f32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) {
    const uint32_t quiet = mantissa != 0 ? 0x00400000u : 0u;
    return f32_from_bits(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    // Denormal or zero: an integer multiple of 2^-24, exact in f32; the sign is put in last so that -0
    // survives.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return f32_from_bits(sign | f32_bits(magnitude));
  }
  return f32_from_bits(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

static inline uint16_t f32_to_f16(float value) {
  const uint32_t bits = f32_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  // 65520 is half way between the largest f16 and 2^16; the tie goes to the even side, infinity.
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is a multiple of 2^-24. Adding 0.5, whose last place is 2^-24, lets the hardware
    // round.
    const float shifted = f32_from_bits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (f32_bits(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

static inline float bf16_to_f32(uint16_t half) { return f32_from_bits(static_cast<uint32_t>(half) << 16); }

static inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = f32_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace quire

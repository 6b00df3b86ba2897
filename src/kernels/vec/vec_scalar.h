// The vector layer as plain C++ on arrays of 16: the specification of every operation in vec.h, and its test
// oracle.
#pragma once

#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct F32 {
  float lane[kLanes];
};
struct I32 {
  int32_t lane[kLanes];
};
struct B64 {
  uint8_t byte[64];
};
struct Mask {
  bool lane[kLanes];
};

// Builtins instead of <cmath> and <bit>: library templates would be shared between objects of different ISAs.
QUIRE_VEC_FN uint32_t float_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
QUIRE_VEC_FN float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Applies f lane by lane.
template <typename F>
QUIRE_VEC_FN F32 each_f32(F f) {
  F32 r;
  for (int i = 0; i < kLanes; ++i) r.lane[i] = f(i);
  return r;
}
template <typename F>
QUIRE_VEC_FN I32 each_i32(F f) {
  I32 r;
  for (int i = 0; i < kLanes; ++i) r.lane[i] = static_cast<int32_t>(f(i));
  return r;
}
template <typename F>
QUIRE_VEC_FN Mask each_mask(F f) {
  Mask r;
  for (int i = 0; i < kLanes; ++i) r.lane[i] = f(i);
  return r;
}
template <typename F>
QUIRE_VEC_FN B64 each_byte(F f) {
  B64 r;
  for (int i = 0; i < 64; ++i) r.byte[i] = static_cast<uint8_t>(f(i));
  return r;
}
QUIRE_VEC_FN uint32_t lane_bits(const I32& a, int i) { return static_cast<uint32_t>(a.lane[i]); }

// ---- Mask

QUIRE_VEC_FN Mask mask_first(int n) {
  return each_mask([=](int i) { return i < n; });
}
QUIRE_VEC_FN Mask mask_from_bits(uint32_t bits) {
  return each_mask([=](int i) { return (bits >> i & 1) != 0; });
}
QUIRE_VEC_FN uint32_t mask_bits(const Mask& m) {
  uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= static_cast<uint32_t>(m.lane[i]) << i;
  return bits;
}
QUIRE_VEC_FN Mask mask_and(const Mask& a, const Mask& b) {
  return each_mask([&](int i) { return a.lane[i] && b.lane[i]; });
}
QUIRE_VEC_FN Mask mask_or(const Mask& a, const Mask& b) {
  return each_mask([&](int i) { return a.lane[i] || b.lane[i]; });
}
QUIRE_VEC_FN Mask mask_not(const Mask& a) {
  return each_mask([&](int i) { return !a.lane[i]; });
}
QUIRE_VEC_FN bool any(const Mask& m) { return mask_bits(m) != 0; }

// ---- F32: load, store, arithmetic

QUIRE_VEC_FN F32 set1(float x) {
  return each_f32([=](int) { return x; });
}
QUIRE_VEC_FN F32 zero() { return set1(0.0f); }
QUIRE_VEC_FN F32 load(const float* p) {
  return each_f32([=](int i) { return p[i]; });
}
QUIRE_VEC_FN F32 load_partial(const float* p, int n) {
  return each_f32([=](int i) { return i < n ? p[i] : 0.0f; });
}
QUIRE_VEC_FN void store_partial(float* p, const F32& a, int n) {
  for (int i = 0; i < kLanes && i < n; ++i) p[i] = a.lane[i];
}
QUIRE_VEC_FN void store(float* p, const F32& a) { store_partial(p, a, kLanes); }
QUIRE_VEC_FN F32 add(const F32& a, const F32& b) {
  return each_f32([&](int i) { return a.lane[i] + b.lane[i]; });
}
QUIRE_VEC_FN F32 sub(const F32& a, const F32& b) {
  return each_f32([&](int i) { return a.lane[i] - b.lane[i]; });
}
QUIRE_VEC_FN F32 mul(const F32& a, const F32& b) {
  return each_f32([&](int i) { return a.lane[i] * b.lane[i]; });
}
QUIRE_VEC_FN F32 div(const F32& a, const F32& b) {
  return each_f32([&](int i) { return a.lane[i] / b.lane[i]; });
}
QUIRE_VEC_FN F32 sqrt(const F32& a) {
  return each_f32([&](int i) { return __builtin_sqrtf(a.lane[i]); });
}
QUIRE_VEC_FN F32 mul_add(const F32& a, const F32& b, const F32& c) {
  return each_f32([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
QUIRE_VEC_FN F32 mul_sub(const F32& a, const F32& b, const F32& c) {
  return each_f32([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], -c.lane[i]); });
}
QUIRE_VEC_FN F32 neg_mul_add(const F32& a, const F32& b, const F32& c) {
  return each_f32([&](int i) { return __builtin_fmaf(-a.lane[i], b.lane[i], c.lane[i]); });
}
QUIRE_VEC_FN float min_of(float a, float b) { return a < b ? a : b; }
QUIRE_VEC_FN float max_of(float a, float b) { return a > b ? a : b; }
QUIRE_VEC_FN F32 min(const F32& a, const F32& b) {
  return each_f32([&](int i) { return min_of(a.lane[i], b.lane[i]); });
}
QUIRE_VEC_FN F32 max(const F32& a, const F32& b) {
  return each_f32([&](int i) { return max_of(a.lane[i], b.lane[i]); });
}
QUIRE_VEC_FN F32 abs(const F32& a) {
  return each_f32([&](int i) { return float_of(float_bits(a.lane[i]) & 0x7fffffffu); });
}
QUIRE_VEC_FN F32 neg(const F32& a) {
  return each_f32([&](int i) { return float_of(float_bits(a.lane[i]) ^ 0x80000000u); });
}
QUIRE_VEC_FN F32 round_even(const F32& a) {
  return each_f32([&](int i) { return __builtin_rintf(a.lane[i]); });
}
QUIRE_VEC_FN F32 floor(const F32& a) {
  return each_f32([&](int i) { return __builtin_floorf(a.lane[i]); });
}

QUIRE_VEC_FN Mask cmp_lt(const F32& a, const F32& b) {
  return each_mask([&](int i) { return a.lane[i] < b.lane[i]; });
}
QUIRE_VEC_FN Mask cmp_le(const F32& a, const F32& b) {
  return each_mask([&](int i) { return a.lane[i] <= b.lane[i]; });
}
QUIRE_VEC_FN Mask cmp_eq(const F32& a, const F32& b) {
  return each_mask([&](int i) { return a.lane[i] == b.lane[i]; });
}
QUIRE_VEC_FN Mask cmp_gt(const F32& a, const F32& b) {
  return each_mask([&](int i) { return a.lane[i] > b.lane[i]; });
}
QUIRE_VEC_FN Mask cmp_unord(const F32& a, const F32& b) {
  return each_mask([&](int i) { return a.lane[i] != a.lane[i] || b.lane[i] != b.lane[i]; });
}
QUIRE_VEC_FN F32 select(const Mask& m, const F32& a, const F32& b) {
  return each_f32([&](int i) { return m.lane[i] ? a.lane[i] : b.lane[i]; });
}

// ---- F32: lanes

// Even (odd) lanes of the 32 values a, b in order; interleave_* undo it.
QUIRE_VEC_FN F32 even_lanes(const F32& a, const F32& b) {
  return each_f32([&](int i) { return i < 8 ? a.lane[2 * i] : b.lane[2 * i - 16]; });
}
QUIRE_VEC_FN F32 odd_lanes(const F32& a, const F32& b) {
  return each_f32([&](int i) { return i < 8 ? a.lane[2 * i + 1] : b.lane[2 * i - 15]; });
}
QUIRE_VEC_FN F32 interleave_low(const F32& a, const F32& b) {
  return each_f32([&](int i) { return i % 2 == 0 ? a.lane[i / 2] : b.lane[i / 2]; });
}
QUIRE_VEC_FN F32 interleave_high(const F32& a, const F32& b) {
  return each_f32([&](int i) { return i % 2 == 0 ? a.lane[8 + i / 2] : b.lane[8 + i / 2]; });
}

template <typename F>
QUIRE_VEC_FN float reduce(F32 a, F combine) {
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) a.lane[i] = combine(a.lane[i], a.lane[i + half]);
  }
  return a.lane[0];
}
QUIRE_VEC_FN float reduce_add(const F32& a) {
  return reduce(a, [](float x, float y) { return x + y; });
}
QUIRE_VEC_FN float reduce_max(const F32& a) {
  return reduce(a, [](float x, float y) { return max_of(x, y); });
}
QUIRE_VEC_FN float reduce_min(const F32& a) {
  return reduce(a, [](float x, float y) { return min_of(x, y); });
}

// ---- I32 (arithmetic through uint32: it wraps)

QUIRE_VEC_FN I32 iset1(int32_t x) {
  return each_i32([=](int) { return x; });
}
QUIRE_VEC_FN I32 izero() { return iset1(0); }
QUIRE_VEC_FN I32 iota() {
  return each_i32([](int i) { return i; });
}
QUIRE_VEC_FN I32 iload(const int32_t* p) {
  return each_i32([=](int i) { return p[i]; });
}
QUIRE_VEC_FN void istore(int32_t* p, const I32& a) {
  for (int i = 0; i < kLanes; ++i) p[i] = a.lane[i];
}
QUIRE_VEC_FN I32 iadd(const I32& a, const I32& b) {
  return each_i32([&](int i) { return lane_bits(a, i) + lane_bits(b, i); });
}
QUIRE_VEC_FN I32 isub(const I32& a, const I32& b) {
  return each_i32([&](int i) { return lane_bits(a, i) - lane_bits(b, i); });
}
QUIRE_VEC_FN I32 imul(const I32& a, const I32& b) {
  return each_i32([&](int i) { return lane_bits(a, i) * lane_bits(b, i); });
}
QUIRE_VEC_FN I32 imin(const I32& a, const I32& b) {
  return each_i32([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
QUIRE_VEC_FN I32 imax(const I32& a, const I32& b) {
  return each_i32([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
QUIRE_VEC_FN I32 iand(const I32& a, const I32& b) {
  return each_i32([&](int i) { return a.lane[i] & b.lane[i]; });
}
QUIRE_VEC_FN I32 ior(const I32& a, const I32& b) {
  return each_i32([&](int i) { return a.lane[i] | b.lane[i]; });
}
QUIRE_VEC_FN I32 ixor(const I32& a, const I32& b) {
  return each_i32([&](int i) { return a.lane[i] ^ b.lane[i]; });
}
QUIRE_VEC_FN I32 shift_left(const I32& a, int n) {
  return each_i32([&](int i) { return lane_bits(a, i) << n; });
}
QUIRE_VEC_FN I32 shift_right_logical(const I32& a, int n) {
  return each_i32([&](int i) { return lane_bits(a, i) >> n; });
}
QUIRE_VEC_FN I32 shift_right_arith(const I32& a, int n) {
  return each_i32([&](int i) { return a.lane[i] >> n; });
}
template <int kCount>
QUIRE_VEC_FN I32 shift_left(const I32& a) {
  return shift_left(a, kCount);
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_logical(const I32& a) {
  return shift_right_logical(a, kCount);
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_arith(const I32& a) {
  return shift_right_arith(a, kCount);
}
QUIRE_VEC_FN Mask icmp_eq(const I32& a, const I32& b) {
  return each_mask([&](int i) { return a.lane[i] == b.lane[i]; });
}
QUIRE_VEC_FN Mask icmp_gt(const I32& a, const I32& b) {
  return each_mask([&](int i) { return a.lane[i] > b.lane[i]; });
}
QUIRE_VEC_FN Mask icmp_lt(const I32& a, const I32& b) { return icmp_gt(b, a); }
QUIRE_VEC_FN I32 iselect(const Mask& m, const I32& a, const I32& b) {
  return each_i32([&](int i) { return m.lane[i] ? a.lane[i] : b.lane[i]; });
}

QUIRE_VEC_FN I32 load_u8x16(const uint8_t* p) {
  return each_i32([=](int i) { return p[i]; });
}
QUIRE_VEC_FN I32 load_i8x16(const int8_t* p) {
  return each_i32([=](int i) { return p[i]; });
}
QUIRE_VEC_FN I32 load_u16x16(const uint16_t* p) {
  return each_i32([=](int i) { return p[i]; });
}
QUIRE_VEC_FN I32 load_i16x16(const int16_t* p) {
  return each_i32([=](int i) { return p[i]; });
}
// Keep the low 8 (16) bits of each lane.
QUIRE_VEC_FN void store_i8x16(int8_t* p, const I32& a) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<int8_t>(a.lane[i]);
}
QUIRE_VEC_FN void store_i16x16(int16_t* p, const I32& a) {
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<int16_t>(a.lane[i]);
}
QUIRE_VEC_FN int32_t ireduce_add(const I32& a) {
  uint32_t sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += lane_bits(a, i);
  return static_cast<int32_t>(sum);
}

// ---- Conversions

QUIRE_VEC_FN I32 bits_of(const F32& a) {
  return each_i32([&](int i) { return float_bits(a.lane[i]); });
}
QUIRE_VEC_FN F32 f32_from_bits(const I32& a) {
  return each_f32([&](int i) { return float_of(lane_bits(a, i)); });
}
QUIRE_VEC_FN F32 to_f32(const I32& a) {
  return each_f32([&](int i) { return static_cast<float>(a.lane[i]); });
}
QUIRE_VEC_FN I32 round_to_i32(const F32& a) {
  return each_i32([&](int i) {
    const float x = a.lane[i];
    const bool fits = x >= -2147483648.0f && x < 2147483648.0f;  // false for NaN
    return fits ? static_cast<int32_t>(__builtin_rintf(x)) : INT32_MIN;
  });
}
QUIRE_VEC_FN F32 scale_by_pow2(const F32& x, const I32& n) {
  return each_f32([&](int i) {
    const int64_t clamped = n.lane[i] < -300 ? -300 : n.lane[i] > 300 ? 300 : n.lane[i];
    const double factor = __builtin_bit_cast(double, (clamped + 1023) << 52);
    return static_cast<float>(static_cast<double>(x.lane[i]) * factor);  // the product is exact
  });
}
QUIRE_VEC_FN F32 scale_by_pow2(const F32& x, const F32& n) {
  return scale_by_pow2(x, round_to_i32(max(min(n, set1(300.0f)), set1(-300.0f))));
}

QUIRE_VEC_FN float f16_to_f32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) {  // Inf, or NaN made quiet
    return float_of(sign | 0x7f800000u | mantissa << 13 | (mantissa != 0 ? 0x400000u : 0u));
  }
  if (exponent == 0) {  // zero or denormal: mantissa * 2^-24, exact
    return float_of(sign | float_bits(static_cast<float>(mantissa) * 0x1p-24f));
  }
  return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}
QUIRE_VEC_FN uint16_t f32_to_f16(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {  // NaN: keep the top of the payload, quiet
    half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to Inf
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 puts the last bit of the denormal half at the last bit of the sum.
    half = float_bits(float_of(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    const uint32_t odd = magnitude >> 13 & 1u;
    half = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}
QUIRE_VEC_FN uint16_t f32_to_bf16(float x) {
  const uint32_t bits = float_bits(x);
  if (x != x) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

QUIRE_VEC_FN F32 load_f16_partial(const uint16_t* p, int n) {
  return each_f32([=](int i) { return i < n ? f16_to_f32(p[i]) : 0.0f; });
}
QUIRE_VEC_FN F32 load_f16(const uint16_t* p) { return load_f16_partial(p, kLanes); }
QUIRE_VEC_FN void store_f16_partial(uint16_t* p, const F32& a, int n) {
  for (int i = 0; i < kLanes && i < n; ++i) p[i] = f32_to_f16(a.lane[i]);
}
QUIRE_VEC_FN void store_f16(uint16_t* p, const F32& a) { store_f16_partial(p, a, kLanes); }
QUIRE_VEC_FN F32 load_bf16_partial(const uint16_t* p, int n) {
  return each_f32([=](int i) { return i < n ? float_of(static_cast<uint32_t>(p[i]) << 16) : 0.0f; });
}
QUIRE_VEC_FN F32 load_bf16(const uint16_t* p) { return load_bf16_partial(p, kLanes); }
QUIRE_VEC_FN void store_bf16_partial(uint16_t* p, const F32& a, int n) {
  for (int i = 0; i < kLanes && i < n; ++i) p[i] = f32_to_bf16(a.lane[i]);
}
QUIRE_VEC_FN void store_bf16(uint16_t* p, const F32& a) { store_bf16_partial(p, a, kLanes); }

// ---- B64: packed bytes and dot products

inline constexpr bool kFastByteDots = false;

QUIRE_VEC_FN B64 bload(const void* p) {
  return each_byte([=](int i) { return static_cast<const uint8_t*>(p)[i]; });
}
QUIRE_VEC_FN void bstore(void* p, const B64& a) {
  for (int i = 0; i < 64; ++i) static_cast<uint8_t*>(p)[i] = a.byte[i];
}
QUIRE_VEC_FN B64 bset1(uint8_t x) {
  return each_byte([=](int) { return x; });
}
QUIRE_VEC_FN B64 band(const B64& a, const B64& b) {
  return each_byte([&](int i) { return a.byte[i] & b.byte[i]; });
}
QUIRE_VEC_FN B64 bor(const B64& a, const B64& b) {
  return each_byte([&](int i) { return a.byte[i] | b.byte[i]; });
}
QUIRE_VEC_FN B64 bxor(const B64& a, const B64& b) {
  return each_byte([&](int i) { return a.byte[i] ^ b.byte[i]; });
}
QUIRE_VEC_FN B64 badd(const B64& a, const B64& b) {
  return each_byte([&](int i) { return a.byte[i] + b.byte[i]; });
}
QUIRE_VEC_FN B64 bsub(const B64& a, const B64& b) {
  return each_byte([&](int i) { return a.byte[i] - b.byte[i]; });
}
// The 16-bit unit that holds byte i, little endian.
QUIRE_VEC_FN uint32_t unit16(const B64& a, int i) {
  return static_cast<uint32_t>(a.byte[i & ~1]) | static_cast<uint32_t>(a.byte[i | 1]) << 8;
}
QUIRE_VEC_FN B64 bshift_right16(const B64& a, int n) {
  return each_byte([&](int i) { return (unit16(a, i) >> n) >> (i % 2 * 8); });
}
QUIRE_VEC_FN B64 bshift_left16(const B64& a, int n) {
  return each_byte([&](int i) { return (unit16(a, i) << n) >> (i % 2 * 8); });
}
template <int kCount>
QUIRE_VEC_FN B64 bshift_right16(const B64& a) {
  return bshift_right16(a, kCount);
}
template <int kCount>
QUIRE_VEC_FN B64 bshift_left16(const B64& a) {
  return bshift_left16(a, kCount);
}
QUIRE_VEC_FN I32 as_i32(const B64& a) { return __builtin_bit_cast(I32, a); }
QUIRE_VEC_FN B64 as_bytes(const I32& a) { return __builtin_bit_cast(B64, a); }
QUIRE_VEC_FN B64 lookup16(const B64& index, const void* table) {
  return each_byte([&](int i) { return static_cast<const uint8_t*>(table)[index.byte[i] & 15]; });
}

// Four int8 (two int16) activations in every lane.
QUIRE_VEC_FN int32_t word_at(const void* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
QUIRE_VEC_FN I32 broadcast_s8x4(const int8_t* a4) { return iset1(word_at(a4)); }
QUIRE_VEC_FN I32 broadcast_s16x2(const int16_t* a2) { return iset1(word_at(a2)); }

QUIRE_VEC_FN I32 dot_u8s8(const I32& acc, const B64& w, const I32& a) {
  const B64 activations = as_bytes(a);
  return each_i32([&](int i) {
    uint32_t sum = lane_bits(acc, i);
    for (int j = 4 * i; j < 4 * i + 4; ++j) {
      sum +=
          static_cast<uint32_t>(static_cast<int32_t>(w.byte[j]) * static_cast<int8_t>(activations.byte[j]));
    }
    return sum;
  });
}
QUIRE_VEC_FN I32 dot_u7s8(const I32& acc, const B64& w, const I32& a) { return dot_u8s8(acc, w, a); }
QUIRE_VEC_FN I32 dot_s16s16_pair(const I32& acc, const B64& w, const I32& a) {
  const I32 weights = as_i32(w);
  return each_i32([&](int i) {
    const int32_t low = static_cast<int16_t>(weights.lane[i]) * static_cast<int16_t>(a.lane[i]);
    const int32_t high = (weights.lane[i] >> 16) * (a.lane[i] >> 16);
    return lane_bits(acc, i) + static_cast<uint32_t>(low) + static_cast<uint32_t>(high);
  });
}
QUIRE_VEC_FN I32 dot_u8s8(const I32& acc, const B64& w, const int8_t* a4) {
  return dot_u8s8(acc, w, broadcast_s8x4(a4));
}
QUIRE_VEC_FN I32 dot_u7s8(const I32& acc, const B64& w, const int8_t* a4) {
  return dot_u7s8(acc, w, broadcast_s8x4(a4));
}
QUIRE_VEC_FN I32 dot_s16s16_pair(const I32& acc, const B64& w, const int16_t* a2) {
  return dot_s16s16_pair(acc, w, broadcast_s16x2(a2));
}

}  // namespace quire::kernels::QUIRE_ISA

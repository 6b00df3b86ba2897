// The vector layer on AVX2 with FMA and F16C: 16 lanes are two registers, lanes 0..7 and 8..15. See vec.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct F32 {
  __m256 lo, hi;
};
struct I32 {
  __m256i lo, hi;
};
struct B64 {
  __m256i lo, hi;
};
// Each lane all ones or all zeros.
struct Mask {
  __m256i lo, hi;
};

// ---- Mask

QUIRE_VEC_FN Mask mask_first(int n) {
  const __m256i count = _mm256_set1_epi32(n);
  return {_mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
          _mm256_cmpgt_epi32(count, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15))};
}
QUIRE_VEC_FN Mask mask_from_bits(uint32_t bits) {
  const __m256i all = _mm256_set1_epi32(static_cast<int32_t>(bits));
  const __m256i lo = _mm256_setr_epi32(0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80);
  const __m256i hi = _mm256_slli_epi32(lo, 8);
  return {_mm256_cmpeq_epi32(_mm256_and_si256(all, lo), lo),
          _mm256_cmpeq_epi32(_mm256_and_si256(all, hi), hi)};
}
QUIRE_VEC_FN uint32_t mask_bits(Mask m) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m.lo))) |
         static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m.hi))) << 8;
}
QUIRE_VEC_FN Mask mask_and(Mask a, Mask b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
QUIRE_VEC_FN Mask mask_or(Mask a, Mask b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
QUIRE_VEC_FN Mask mask_not(Mask a) {
  const __m256i ones = _mm256_set1_epi32(-1);
  return {_mm256_xor_si256(a.lo, ones), _mm256_xor_si256(a.hi, ones)};
}
QUIRE_VEC_FN bool any(Mask m) {
  const __m256i both = _mm256_or_si256(m.lo, m.hi);
  return _mm256_testz_si256(both, both) == 0;
}
// n limited to 0..16, for loops over single elements.
QUIRE_VEC_FN int lane_count(int n) { return n < 0 ? 0 : n > kLanes ? kLanes : n; }

// ---- F32: load, store, arithmetic

QUIRE_VEC_FN F32 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
QUIRE_VEC_FN F32 set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
QUIRE_VEC_FN F32 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
QUIRE_VEC_FN F32 load_partial(const float* p, int n) {
  const Mask m = mask_first(n);
  return {_mm256_maskload_ps(p, m.lo), _mm256_maskload_ps(p + 8, m.hi)};
}
QUIRE_VEC_FN void store(float* p, F32 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
QUIRE_VEC_FN void store_partial(float* p, F32 a, int n) {
  const Mask m = mask_first(n);
  _mm256_maskstore_ps(p, m.lo, a.lo);
  _mm256_maskstore_ps(p + 8, m.hi, a.hi);
}
QUIRE_VEC_FN F32 add(F32 a, F32 b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 sub(F32 a, F32 b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 mul(F32 a, F32 b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 div(F32 a, F32 b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
QUIRE_VEC_FN F32 mul_add(F32 a, F32 b, F32 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
QUIRE_VEC_FN F32 mul_sub(F32 a, F32 b, F32 c) {
  return {_mm256_fmsub_ps(a.lo, b.lo, c.lo), _mm256_fmsub_ps(a.hi, b.hi, c.hi)};
}
QUIRE_VEC_FN F32 neg_mul_add(F32 a, F32 b, F32 c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}
QUIRE_VEC_FN F32 min(F32 a, F32 b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
QUIRE_VEC_FN F32 abs(F32 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
QUIRE_VEC_FN F32 neg(F32 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_xor_ps(sign, a.lo), _mm256_xor_ps(sign, a.hi)};
}
QUIRE_VEC_FN F32 round_even(F32 a) {
  return {_mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
QUIRE_VEC_FN F32 floor(F32 a) {
  return {_mm256_round_ps(a.lo, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
          _mm256_round_ps(a.hi, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}

// Mask of the lanes in which both registers of a comparison are all ones.
QUIRE_VEC_FN Mask to_mask(__m256 lo, __m256 hi) { return {_mm256_castps_si256(lo), _mm256_castps_si256(hi)}; }
QUIRE_VEC_FN Mask cmp_lt(F32 a, F32 b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ));
}
QUIRE_VEC_FN Mask cmp_le(F32 a, F32 b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_LE_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_LE_OQ));
}
QUIRE_VEC_FN Mask cmp_eq(F32 a, F32 b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ));
}
QUIRE_VEC_FN Mask cmp_gt(F32 a, F32 b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ));
}
QUIRE_VEC_FN Mask cmp_unord(F32 a, F32 b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_UNORD_Q), _mm256_cmp_ps(a.hi, b.hi, _CMP_UNORD_Q));
}
QUIRE_VEC_FN F32 select(Mask m, F32 a, F32 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, _mm256_castsi256_ps(m.lo)),
          _mm256_blendv_ps(b.hi, a.hi, _mm256_castsi256_ps(m.hi))};
}

// ---- F32: lanes

// Even (odd) lanes of the 32 values a, b in order; interleave_* undo it.
QUIRE_VEC_FN __m256 in_order(__m256 pairs) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(pairs), 0xd8));
}
QUIRE_VEC_FN F32 even_lanes(F32 a, F32 b) {
  return {in_order(_mm256_shuffle_ps(a.lo, a.hi, 0x88)), in_order(_mm256_shuffle_ps(b.lo, b.hi, 0x88))};
}
QUIRE_VEC_FN F32 odd_lanes(F32 a, F32 b) {
  return {in_order(_mm256_shuffle_ps(a.lo, a.hi, 0xdd)), in_order(_mm256_shuffle_ps(b.lo, b.hi, 0xdd))};
}
QUIRE_VEC_FN F32 interleave_halves(__m256 a, __m256 b) {
  const __m256 first = _mm256_unpacklo_ps(a, b), second = _mm256_unpackhi_ps(a, b);
  return {_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31)};
}
QUIRE_VEC_FN F32 interleave_low(F32 a, F32 b) { return interleave_halves(a.lo, b.lo); }
QUIRE_VEC_FN F32 interleave_high(F32 a, F32 b) { return interleave_halves(a.hi, b.hi); }

QUIRE_VEC_FN float reduce_add(F32 a) {
  const __m256 s8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
QUIRE_VEC_FN float reduce_max(F32 a) {
  const __m256 s8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}
QUIRE_VEC_FN float reduce_min(F32 a) {
  const __m256 s8 = _mm256_min_ps(a.lo, a.hi);
  const __m128 s4 = _mm_min_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_min_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_min_ss(s2, _mm_movehdup_ps(s2)));
}

// ---- I32

QUIRE_VEC_FN I32 izero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
QUIRE_VEC_FN I32 iset1(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
QUIRE_VEC_FN I32 iota() {
  return {_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)};
}
QUIRE_VEC_FN __m256i load_256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
QUIRE_VEC_FN void store_256(void* p, __m256i a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a); }
QUIRE_VEC_FN __m128i load_128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
QUIRE_VEC_FN void store_128(void* p, __m128i a) { _mm_storeu_si128(static_cast<__m128i*>(p), a); }
QUIRE_VEC_FN I32 iload(const int32_t* p) { return {load_256(p), load_256(p + 8)}; }
QUIRE_VEC_FN void istore(int32_t* p, I32 a) {
  store_256(p, a.lo);
  store_256(p + 8, a.hi);
}
QUIRE_VEC_FN I32 iadd(I32 a, I32 b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 isub(I32 a, I32 b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 imul(I32 a, I32 b) {
  return {_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)};
}
QUIRE_VEC_FN I32 imin(I32 a, I32 b) { return {_mm256_min_epi32(a.lo, b.lo), _mm256_min_epi32(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 imax(I32 a, I32 b) { return {_mm256_max_epi32(a.lo, b.lo), _mm256_max_epi32(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 iand(I32 a, I32 b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 ior(I32 a, I32 b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
QUIRE_VEC_FN I32 ixor(I32 a, I32 b) { return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)}; }
template <int kCount>
QUIRE_VEC_FN I32 shift_left(I32 a) {
  return {_mm256_slli_epi32(a.lo, kCount), _mm256_slli_epi32(a.hi, kCount)};
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_logical(I32 a) {
  return {_mm256_srli_epi32(a.lo, kCount), _mm256_srli_epi32(a.hi, kCount)};
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_arith(I32 a) {
  return {_mm256_srai_epi32(a.lo, kCount), _mm256_srai_epi32(a.hi, kCount)};
}
QUIRE_VEC_FN I32 shift_left(I32 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_sll_epi32(a.lo, count), _mm256_sll_epi32(a.hi, count)};
}
QUIRE_VEC_FN I32 shift_right_logical(I32 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_srl_epi32(a.lo, count), _mm256_srl_epi32(a.hi, count)};
}
QUIRE_VEC_FN I32 shift_right_arith(I32 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_sra_epi32(a.lo, count), _mm256_sra_epi32(a.hi, count)};
}
QUIRE_VEC_FN Mask icmp_eq(I32 a, I32 b) {
  return {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)};
}
QUIRE_VEC_FN Mask icmp_gt(I32 a, I32 b) {
  return {_mm256_cmpgt_epi32(a.lo, b.lo), _mm256_cmpgt_epi32(a.hi, b.hi)};
}
QUIRE_VEC_FN Mask icmp_lt(I32 a, I32 b) { return icmp_gt(b, a); }
QUIRE_VEC_FN I32 iselect(Mask m, I32 a, I32 b) {
  return {_mm256_blendv_epi8(b.lo, a.lo, m.lo), _mm256_blendv_epi8(b.hi, a.hi, m.hi)};
}

QUIRE_VEC_FN I32 load_u8x16(const uint8_t* p) {
  const __m128i bytes = load_128(p);
  return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}
QUIRE_VEC_FN I32 load_i8x16(const int8_t* p) {
  const __m128i bytes = load_128(p);
  return {_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))};
}
QUIRE_VEC_FN I32 load_u16x16(const uint16_t* p) {
  return {_mm256_cvtepu16_epi32(load_128(p)), _mm256_cvtepu16_epi32(load_128(p + 8))};
}
QUIRE_VEC_FN I32 load_i16x16(const int16_t* p) {
  return {_mm256_cvtepi16_epi32(load_128(p)), _mm256_cvtepi16_epi32(load_128(p + 8))};
}
// The low 16 bits of each lane, in order.
QUIRE_VEC_FN __m256i low_halves(I32 a) {
  const __m256i keep = _mm256_set1_epi32(0xffff);
  const __m256i packed = _mm256_packus_epi32(_mm256_and_si256(a.lo, keep), _mm256_and_si256(a.hi, keep));
  return _mm256_permute4x64_epi64(packed, 0xd8);
}
// Keep the low 8 (16) bits of each lane.
QUIRE_VEC_FN void store_i8x16(int8_t* p, I32 a) {
  const __m256i halves = _mm256_and_si256(low_halves(a), _mm256_set1_epi16(0xff));
  store_128(p, _mm_packus_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}
QUIRE_VEC_FN void store_i16x16(int16_t* p, I32 a) { store_256(p, low_halves(a)); }
QUIRE_VEC_FN int32_t ireduce_add(I32 a) {
  const __m256i s8 = _mm256_add_epi32(a.lo, a.hi);
  const __m128i s4 = _mm_add_epi32(_mm256_castsi256_si128(s8), _mm256_extracti128_si256(s8, 1));
  const __m128i s2 = _mm_add_epi32(s4, _mm_shuffle_epi32(s4, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s2, _mm_shuffle_epi32(s2, 0xb1)));
}

// ---- Conversions

QUIRE_VEC_FN I32 bits_of(F32 a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
QUIRE_VEC_FN F32 f32_from_bits(I32 a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
QUIRE_VEC_FN F32 to_f32(I32 a) { return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }
QUIRE_VEC_FN I32 round_to_i32(F32 a) { return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)}; }

// Four values times 2^n: exact in f64, then rounded once.
QUIRE_VEC_FN __m128 scale_four(__m128 x, __m128i n) {
  const __m256i exponent = _mm256_add_epi64(_mm256_cvtepi32_epi64(n), _mm256_set1_epi64x(1023));
  const __m256d factor = _mm256_castsi256_pd(_mm256_slli_epi64(exponent, 52));
  return _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(x), factor));
}
QUIRE_VEC_FN __m256 scale_eight(__m256 x, __m256i n) {
  const __m128 low = scale_four(_mm256_castps256_ps128(x), _mm256_castsi256_si128(n));
  const __m128 high = scale_four(_mm256_extractf128_ps(x, 1), _mm256_extracti128_si256(n, 1));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}
QUIRE_VEC_FN F32 scale_by_pow2(F32 x, I32 n) {
  const I32 clamped = imax(imin(n, iset1(300)), iset1(-300));
  return {scale_eight(x.lo, clamped.lo), scale_eight(x.hi, clamped.hi)};
}
QUIRE_VEC_FN F32 scale_by_pow2(F32 x, F32 n) {
  return scale_by_pow2(x, round_to_i32(max(min(n, set1(300.0f)), set1(-300.0f))));
}

QUIRE_VEC_FN F32 load_f16(const uint16_t* p) {
  return {_mm256_cvtph_ps(load_128(p)), _mm256_cvtph_ps(load_128(p + 8))};
}
QUIRE_VEC_FN F32 load_f16_partial(const uint16_t* p, int n) {
  uint16_t halves[kLanes] = {};
  for (int i = 0; i < lane_count(n); ++i) halves[i] = p[i];
  return load_f16(halves);
}
QUIRE_VEC_FN void store_f16(uint16_t* p, F32 a) {
  store_128(p, _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  store_128(p + 8, _mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
QUIRE_VEC_FN void store_f16_partial(uint16_t* p, F32 a, int n) {
  uint16_t halves[kLanes];
  store_f16(halves, a);
  for (int i = 0; i < lane_count(n); ++i) p[i] = halves[i];
}
QUIRE_VEC_FN F32 load_bf16(const uint16_t* p) { return f32_from_bits(shift_left<16>(load_u16x16(p))); }
QUIRE_VEC_FN F32 load_bf16_partial(const uint16_t* p, int n) {
  uint16_t halves[kLanes] = {};
  for (int i = 0; i < lane_count(n); ++i) halves[i] = p[i];
  return load_bf16(halves);
}
QUIRE_VEC_FN void store_bf16(uint16_t* p, F32 a) {
  const I32 u = bits_of(a);
  const I32 odd = iand(shift_right_logical<16>(u), iset1(1));
  const I32 rounded = shift_right_logical<16>(iadd(u, iadd(odd, iset1(0x7fff))));
  const I32 quiet_nan = ior(shift_right_logical<16>(u), iset1(0x40));
  store_256(p, low_halves(iselect(cmp_unord(a, a), quiet_nan, rounded)));
}
QUIRE_VEC_FN void store_bf16_partial(uint16_t* p, F32 a, int n) {
  uint16_t halves[kLanes];
  store_bf16(halves, a);
  for (int i = 0; i < lane_count(n); ++i) p[i] = halves[i];
}

// ---- B64: packed bytes and dot products

inline constexpr bool kFastByteDots = false;

QUIRE_VEC_FN B64 bload(const void* p) {
  return {load_256(p), load_256(static_cast<const unsigned char*>(p) + 32)};
}
QUIRE_VEC_FN void bstore(void* p, B64 a) {
  store_256(p, a.lo);
  store_256(static_cast<unsigned char*>(p) + 32, a.hi);
}
QUIRE_VEC_FN B64 bset1(uint8_t x) {
  const __m256i all = _mm256_set1_epi8(static_cast<char>(x));
  return {all, all};
}
QUIRE_VEC_FN B64 band(B64 a, B64 b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
QUIRE_VEC_FN B64 bor(B64 a, B64 b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
QUIRE_VEC_FN B64 bxor(B64 a, B64 b) { return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)}; }
QUIRE_VEC_FN B64 badd(B64 a, B64 b) { return {_mm256_add_epi8(a.lo, b.lo), _mm256_add_epi8(a.hi, b.hi)}; }
QUIRE_VEC_FN B64 bsub(B64 a, B64 b) { return {_mm256_sub_epi8(a.lo, b.lo), _mm256_sub_epi8(a.hi, b.hi)}; }
template <int kCount>
QUIRE_VEC_FN B64 bshift_right16(B64 a) {
  return {_mm256_srli_epi16(a.lo, kCount), _mm256_srli_epi16(a.hi, kCount)};
}
template <int kCount>
QUIRE_VEC_FN B64 bshift_left16(B64 a) {
  return {_mm256_slli_epi16(a.lo, kCount), _mm256_slli_epi16(a.hi, kCount)};
}
QUIRE_VEC_FN B64 bshift_right16(B64 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_srl_epi16(a.lo, count), _mm256_srl_epi16(a.hi, count)};
}
QUIRE_VEC_FN B64 bshift_left16(B64 a, int n) {
  const __m128i count = _mm_cvtsi32_si128(n);
  return {_mm256_sll_epi16(a.lo, count), _mm256_sll_epi16(a.hi, count)};
}
QUIRE_VEC_FN I32 as_i32(B64 a) { return {a.lo, a.hi}; }
QUIRE_VEC_FN B64 as_bytes(I32 a) { return {a.lo, a.hi}; }
QUIRE_VEC_FN B64 lookup16(B64 index, const void* table) {
  const __m256i t = _mm256_broadcastsi128_si256(load_128(table));
  return {_mm256_shuffle_epi8(t, index.lo), _mm256_shuffle_epi8(t, index.hi)};
}

QUIRE_VEC_FN int32_t word_at(const void* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
// Four int8 (two int16) activations in every lane.
QUIRE_VEC_FN I32 broadcast_s8x4(const int8_t* a4) { return iset1(word_at(a4)); }
QUIRE_VEC_FN I32 broadcast_s16x2(const int16_t* a2) { return iset1(word_at(a2)); }

// vpmaddubsw saturates at int16, so bytes above 127 go through 16-bit products: even bytes, then odd ones.
QUIRE_VEC_FN __m256i dot_u8s8_half(__m256i acc, __m256i w, __m256i a) {
  const __m256i w_even = _mm256_and_si256(w, _mm256_set1_epi16(0x00ff));
  const __m256i w_odd = _mm256_srli_epi16(w, 8);
  const __m256i a_even = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8);
  const __m256i a_odd = _mm256_srai_epi16(a, 8);
  const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(w_even, a_even), _mm256_madd_epi16(w_odd, a_odd));
  return _mm256_add_epi32(acc, sum);
}
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, I32 a) {
  return {dot_u8s8_half(acc.lo, w.lo, a.lo), dot_u8s8_half(acc.hi, w.hi, a.hi)};
}
// 2 * 127 * 128 < 32768: no saturation.
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, I32 a) {
  const __m256i ones = _mm256_set1_epi16(1);
  return {_mm256_add_epi32(acc.lo, _mm256_madd_epi16(_mm256_maddubs_epi16(w.lo, a.lo), ones)),
          _mm256_add_epi32(acc.hi, _mm256_madd_epi16(_mm256_maddubs_epi16(w.hi, a.hi), ones))};
}
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, I32 a) {
  return {_mm256_add_epi32(acc.lo, _mm256_madd_epi16(w.lo, a.lo)),
          _mm256_add_epi32(acc.hi, _mm256_madd_epi16(w.hi, a.hi))};
}
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, const int8_t* a4) { return dot_u8s8(acc, w, broadcast_s8x4(a4)); }
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, const int8_t* a4) { return dot_u7s8(acc, w, broadcast_s8x4(a4)); }
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, const int16_t* a2) {
  return dot_s16s16_pair(acc, w, broadcast_s16x2(a2));
}

}  // namespace quire::kernels::QUIRE_ISA

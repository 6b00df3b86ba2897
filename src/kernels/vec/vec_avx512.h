// The vector layer on AVX-512 (F, BW, DQ, VL), with VNNI dot products where compiled for them. See vec.h.
#pragma once

// GCC 12 takes the deliberately undefined registers inside its own intrinsics for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct F32 {
  __m512 v;
};
struct I32 {
  __m512i v;
};
struct B64 {
  __m512i v;
};
struct Mask {
  __mmask16 bits;
};

// ---- Mask

QUIRE_VEC_FN Mask mask_first(int n) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return {_mm512_cmpgt_epi32_mask(_mm512_set1_epi32(n), lane)};
}
QUIRE_VEC_FN Mask mask_from_bits(uint32_t bits) { return {static_cast<__mmask16>(bits)}; }
QUIRE_VEC_FN uint32_t mask_bits(Mask m) { return m.bits; }
QUIRE_VEC_FN Mask mask_and(Mask a, Mask b) { return {_kand_mask16(a.bits, b.bits)}; }
QUIRE_VEC_FN Mask mask_or(Mask a, Mask b) { return {_kor_mask16(a.bits, b.bits)}; }
QUIRE_VEC_FN Mask mask_not(Mask a) { return {_knot_mask16(a.bits)}; }
QUIRE_VEC_FN bool any(Mask m) { return m.bits != 0; }

// ---- F32: load, store, arithmetic

QUIRE_VEC_FN F32 zero() { return {_mm512_setzero_ps()}; }
QUIRE_VEC_FN F32 set1(float x) { return {_mm512_set1_ps(x)}; }
QUIRE_VEC_FN F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
QUIRE_VEC_FN F32 load_partial(const float* p, int n) {
  return {_mm512_maskz_loadu_ps(mask_first(n).bits, p)};
}
QUIRE_VEC_FN void store(float* p, F32 a) { _mm512_storeu_ps(p, a.v); }
QUIRE_VEC_FN void store_partial(float* p, F32 a, int n) { _mm512_mask_storeu_ps(p, mask_first(n).bits, a.v); }
QUIRE_VEC_FN F32 add(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 sub(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 mul(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 div(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
QUIRE_VEC_FN F32 mul_add(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
QUIRE_VEC_FN F32 mul_sub(F32 a, F32 b, F32 c) { return {_mm512_fmsub_ps(a.v, b.v, c.v)}; }
QUIRE_VEC_FN F32 neg_mul_add(F32 a, F32 b, F32 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
QUIRE_VEC_FN F32 min(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
QUIRE_VEC_FN F32 abs(F32 a) { return {_mm512_abs_ps(a.v)}; }
QUIRE_VEC_FN F32 neg(F32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
QUIRE_VEC_FN F32 round_even(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
QUIRE_VEC_FN F32 floor(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}

QUIRE_VEC_FN Mask cmp_lt(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
QUIRE_VEC_FN Mask cmp_le(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
QUIRE_VEC_FN Mask cmp_eq(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
QUIRE_VEC_FN Mask cmp_gt(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
QUIRE_VEC_FN Mask cmp_unord(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q)}; }
QUIRE_VEC_FN F32 select(Mask m, F32 a, F32 b) { return {_mm512_mask_blend_ps(m.bits, b.v, a.v)}; }

// ---- F32: lanes

// Even (odd) lanes of the 32 values a, b in order; interleave_* undo it.
QUIRE_VEC_FN F32 even_lanes(F32 a, F32 b) {
  const __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return {_mm512_permutex2var_ps(a.v, index, b.v)};
}
QUIRE_VEC_FN F32 odd_lanes(F32 a, F32 b) {
  const __m512i index = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return {_mm512_permutex2var_ps(a.v, index, b.v)};
}
QUIRE_VEC_FN F32 interleave_low(F32 a, F32 b) {
  const __m512i index = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return {_mm512_permutex2var_ps(a.v, index, b.v)};
}
QUIRE_VEC_FN F32 interleave_high(F32 a, F32 b) {
  const __m512i index = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return {_mm512_permutex2var_ps(a.v, index, b.v)};
}

QUIRE_VEC_FN float reduce_add(F32 a) {
  const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
QUIRE_VEC_FN float reduce_max(F32 a) {
  const __m256 s8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}
QUIRE_VEC_FN float reduce_min(F32 a) {
  const __m256 s8 = _mm256_min_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 s4 = _mm_min_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_min_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_min_ss(s2, _mm_movehdup_ps(s2)));
}

// ---- I32

QUIRE_VEC_FN I32 izero() { return {_mm512_setzero_si512()}; }
QUIRE_VEC_FN I32 iset1(int32_t x) { return {_mm512_set1_epi32(x)}; }
QUIRE_VEC_FN I32 iota() { return {_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)}; }
QUIRE_VEC_FN I32 iload(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
QUIRE_VEC_FN void istore(int32_t* p, I32 a) { _mm512_storeu_si512(p, a.v); }
QUIRE_VEC_FN I32 iadd(I32 a, I32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
QUIRE_VEC_FN I32 isub(I32 a, I32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
QUIRE_VEC_FN I32 imul(I32 a, I32 b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
QUIRE_VEC_FN I32 imin(I32 a, I32 b) { return {_mm512_min_epi32(a.v, b.v)}; }
QUIRE_VEC_FN I32 imax(I32 a, I32 b) { return {_mm512_max_epi32(a.v, b.v)}; }
QUIRE_VEC_FN I32 iand(I32 a, I32 b) { return {_mm512_and_si512(a.v, b.v)}; }
QUIRE_VEC_FN I32 ior(I32 a, I32 b) { return {_mm512_or_si512(a.v, b.v)}; }
QUIRE_VEC_FN I32 ixor(I32 a, I32 b) { return {_mm512_xor_si512(a.v, b.v)}; }
template <int kCount>
QUIRE_VEC_FN I32 shift_left(I32 a) {
  return {_mm512_slli_epi32(a.v, kCount)};
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_logical(I32 a) {
  return {_mm512_srli_epi32(a.v, kCount)};
}
template <int kCount>
QUIRE_VEC_FN I32 shift_right_arith(I32 a) {
  return {_mm512_srai_epi32(a.v, kCount)};
}
QUIRE_VEC_FN I32 shift_left(I32 a, int n) { return {_mm512_sll_epi32(a.v, _mm_cvtsi32_si128(n))}; }
QUIRE_VEC_FN I32 shift_right_logical(I32 a, int n) { return {_mm512_srl_epi32(a.v, _mm_cvtsi32_si128(n))}; }
QUIRE_VEC_FN I32 shift_right_arith(I32 a, int n) { return {_mm512_sra_epi32(a.v, _mm_cvtsi32_si128(n))}; }
QUIRE_VEC_FN Mask icmp_eq(I32 a, I32 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
QUIRE_VEC_FN Mask icmp_gt(I32 a, I32 b) { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
QUIRE_VEC_FN Mask icmp_lt(I32 a, I32 b) { return {_mm512_cmplt_epi32_mask(a.v, b.v)}; }
QUIRE_VEC_FN I32 iselect(Mask m, I32 a, I32 b) { return {_mm512_mask_blend_epi32(m.bits, b.v, a.v)}; }

QUIRE_VEC_FN I32 load_u8x16(const uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
QUIRE_VEC_FN I32 load_i8x16(const int8_t* p) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
QUIRE_VEC_FN I32 load_u16x16(const uint16_t* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
QUIRE_VEC_FN I32 load_i16x16(const int16_t* p) {
  return {_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
// Keep the low 8 (16) bits of each lane.
QUIRE_VEC_FN void store_i8x16(int8_t* p, I32 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
QUIRE_VEC_FN void store_i16x16(int16_t* p, I32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a.v));
}
QUIRE_VEC_FN int32_t ireduce_add(I32 a) { return _mm512_reduce_add_epi32(a.v); }

// ---- Conversions

QUIRE_VEC_FN I32 bits_of(F32 a) { return {_mm512_castps_si512(a.v)}; }
QUIRE_VEC_FN F32 f32_from_bits(I32 a) { return {_mm512_castsi512_ps(a.v)}; }
QUIRE_VEC_FN F32 to_f32(I32 a) { return {_mm512_cvtepi32_ps(a.v)}; }
QUIRE_VEC_FN I32 round_to_i32(F32 a) { return {_mm512_cvtps_epi32(a.v)}; }
QUIRE_VEC_FN F32 scale_by_pow2(F32 x, F32 n) {
  const __m512 limit = _mm512_set1_ps(300.0f);
  const __m512 clamped = _mm512_max_ps(_mm512_min_ps(n.v, limit), _mm512_sub_ps(_mm512_setzero_ps(), limit));
  return {_mm512_scalef_ps(x.v, clamped)};
}
QUIRE_VEC_FN F32 scale_by_pow2(F32 x, I32 n) { return scale_by_pow2(x, to_f32(n)); }

QUIRE_VEC_FN F32 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
QUIRE_VEC_FN F32 load_f16_partial(const uint16_t* p, int n) {
  return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask_first(n).bits, p))};
}
QUIRE_VEC_FN __m256i f16_bits(F32 a) {
  return _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
QUIRE_VEC_FN void store_f16(uint16_t* p, F32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), f16_bits(a));
}
QUIRE_VEC_FN void store_f16_partial(uint16_t* p, F32 a, int n) {
  _mm256_mask_storeu_epi16(p, mask_first(n).bits, f16_bits(a));
}
QUIRE_VEC_FN F32 load_bf16(const uint16_t* p) { return f32_from_bits(shift_left<16>(load_u16x16(p))); }
QUIRE_VEC_FN F32 load_bf16_partial(const uint16_t* p, int n) {
  const __m256i half = _mm256_maskz_loadu_epi16(mask_first(n).bits, p);
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))};
}
QUIRE_VEC_FN __m256i bf16_bits(F32 a) {
  const I32 u = bits_of(a);
  const I32 odd = iand(shift_right_logical<16>(u), iset1(1));
  const I32 rounded = shift_right_logical<16>(iadd(u, iadd(odd, iset1(0x7fff))));
  const I32 quiet_nan = ior(shift_right_logical<16>(u), iset1(0x40));
  return _mm512_cvtepi32_epi16(iselect(cmp_unord(a, a), quiet_nan, rounded).v);
}
QUIRE_VEC_FN void store_bf16(uint16_t* p, F32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bf16_bits(a));
}
QUIRE_VEC_FN void store_bf16_partial(uint16_t* p, F32 a, int n) {
  _mm256_mask_storeu_epi16(p, mask_first(n).bits, bf16_bits(a));
}

// ---- B64: packed bytes and dot products

QUIRE_VEC_FN B64 bload(const void* p) { return {_mm512_loadu_si512(p)}; }
QUIRE_VEC_FN void bstore(void* p, B64 a) { _mm512_storeu_si512(p, a.v); }
QUIRE_VEC_FN B64 bset1(uint8_t x) { return {_mm512_set1_epi8(static_cast<char>(x))}; }
QUIRE_VEC_FN B64 band(B64 a, B64 b) { return {_mm512_and_si512(a.v, b.v)}; }
QUIRE_VEC_FN B64 bor(B64 a, B64 b) { return {_mm512_or_si512(a.v, b.v)}; }
QUIRE_VEC_FN B64 bxor(B64 a, B64 b) { return {_mm512_xor_si512(a.v, b.v)}; }
QUIRE_VEC_FN B64 badd(B64 a, B64 b) { return {_mm512_add_epi8(a.v, b.v)}; }
QUIRE_VEC_FN B64 bsub(B64 a, B64 b) { return {_mm512_sub_epi8(a.v, b.v)}; }
template <int kCount>
QUIRE_VEC_FN B64 bshift_right16(B64 a) {
  return {_mm512_srli_epi16(a.v, kCount)};
}
template <int kCount>
QUIRE_VEC_FN B64 bshift_left16(B64 a) {
  return {_mm512_slli_epi16(a.v, kCount)};
}
QUIRE_VEC_FN B64 bshift_right16(B64 a, int n) { return {_mm512_srl_epi16(a.v, _mm_cvtsi32_si128(n))}; }
QUIRE_VEC_FN B64 bshift_left16(B64 a, int n) { return {_mm512_sll_epi16(a.v, _mm_cvtsi32_si128(n))}; }
QUIRE_VEC_FN I32 as_i32(B64 a) { return {a.v}; }
QUIRE_VEC_FN B64 as_bytes(I32 a) { return {a.v}; }
QUIRE_VEC_FN B64 lookup16(B64 index, const void* table) {
  const __m128i t = _mm_loadu_si128(static_cast<const __m128i*>(table));
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(t), index.v)};
}

QUIRE_VEC_FN int32_t word_at(const void* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}
// Four int8 (two int16) activations in every lane.
QUIRE_VEC_FN I32 broadcast_s8x4(const int8_t* a4) { return {_mm512_set1_epi32(word_at(a4))}; }
QUIRE_VEC_FN I32 broadcast_s16x2(const int16_t* a2) { return {_mm512_set1_epi32(word_at(a2))}; }

#if defined(QUIRE_ISA_IS_AVX512VNNI)

inline constexpr bool kFastByteDots = true;
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, I32 a) { return {_mm512_dpbusd_epi32(acc.v, w.v, a.v)}; }
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, I32 a) { return dot_u8s8(acc, w, a); }
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, I32 a) { return {_mm512_dpwssd_epi32(acc.v, w.v, a.v)}; }
#if defined(__clang__)
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, const int8_t* a4) { return dot_u8s8(acc, w, broadcast_s8x4(a4)); }
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, const int16_t* a2) {
  return dot_s16s16_pair(acc, w, broadcast_s16x2(a2));
}
#else
// GCC 12 has no pattern for the broadcast operand of these; without it a register per activation is lost.
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, const int8_t* a4) {
  const struct Four {
    int8_t value[4];
  }& four = *reinterpret_cast<const Four*>(a4);
  __asm__("vpdpbusd %1%{1to16%}, %2, %0" : "+v"(acc.v) : "m"(four), "v"(w.v));
  return acc;
}
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, const int16_t* a2) {
  const struct Two {
    int16_t value[2];
  }& two = *reinterpret_cast<const Two*>(a2);
  __asm__("vpdpwssd %1%{1to16%}, %2, %0" : "+v"(acc.v) : "m"(two), "v"(w.v));
  return acc;
}
#endif
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, const int8_t* a4) { return dot_u8s8(acc, w, a4); }

#else

inline constexpr bool kFastByteDots = false;
// vpmaddubsw saturates at int16, so bytes above 127 go through 16-bit products: even bytes, then odd ones.
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, I32 a) {
  const __m512i w_even = _mm512_and_si512(w.v, _mm512_set1_epi16(0x00ff));
  const __m512i w_odd = _mm512_srli_epi16(w.v, 8);
  const __m512i a_even = _mm512_srai_epi16(_mm512_slli_epi16(a.v, 8), 8);
  const __m512i a_odd = _mm512_srai_epi16(a.v, 8);
  const __m512i sum = _mm512_add_epi32(_mm512_madd_epi16(w_even, a_even), _mm512_madd_epi16(w_odd, a_odd));
  return {_mm512_add_epi32(acc.v, sum)};
}
// 2 * 127 * 128 < 32768: no saturation.
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, I32 a) {
  const __m512i pairs = _mm512_maddubs_epi16(w.v, a.v);
  return {_mm512_add_epi32(acc.v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
}
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, I32 a) {
  return {_mm512_add_epi32(acc.v, _mm512_madd_epi16(w.v, a.v))};
}
QUIRE_VEC_FN I32 dot_u8s8(I32 acc, B64 w, const int8_t* a4) { return dot_u8s8(acc, w, broadcast_s8x4(a4)); }
QUIRE_VEC_FN I32 dot_u7s8(I32 acc, B64 w, const int8_t* a4) { return dot_u7s8(acc, w, broadcast_s8x4(a4)); }
QUIRE_VEC_FN I32 dot_s16s16_pair(I32 acc, B64 w, const int16_t* a2) {
  return dot_s16s16_pair(acc, w, broadcast_s16x2(a2));
}

#endif

}  // namespace quire::kernels::QUIRE_ISA

// The vector layer: 16 logical lanes on every ISA, chosen at compile time by QUIRE_ISA_IS_<NAME>.
//
// The only place with intrinsics. Include from *.kern.cc files only (each is compiled once per ISA);
// everything lives in namespace quire::kernels::QUIRE_ISA with internal linkage, so code of one ISA can never
// be linked into another. All functions are pure; any thread may call them. Use:
//
//   F32 sum = zero();
//   for (int64_t i = 0; i < n; i += 16) sum = mul_add(load(x + i), load(y + i), sum);
//   float dot = reduce_add(sum);
//
// Every function gives the same bits on every ISA (docs/numerics.md; vec_scalar.h is the specification):
//  - F32 holds 16 floats, I32 16 int32 (wrapping), Mask 16 truth values, B64 64 bytes: byte j belongs to lane
//  j / 4.
//  - One exception: when a result is NaN, its sign and payload are not part of the contract.
//  - mul_add(a,b,c) = a*b+c, mul_sub = a*b-c, neg_mul_add = -(a*b)+c, each rounded once.
//  - max(a,b) = a > b ? a : b and min(a,b) = a < b ? a : b: with a NaN or two zeros the answer is b.
//  - reduce_* halve 8-4-2-1: lane i with lane i + 8, then i + 4, i + 2, i + 1.
//  - *_partial(p, n): lanes >= n load as zero, nothing past p + n is touched; n <= 0 is none, n >= 16 all.
//  - round_to_i32: half to even; NaN and values outside int32 give INT32_MIN.
//  - scale_by_pow2(x, n) = x * 2^n rounded once, for every x; |n| is clamped to 300. The overload with a
//  float n takes
//    whole numbers.
//  - F16 and BF16 stores round half to even; NaN stays NaN, overflow gives Inf.
//  - Shift counts are 0..31 (I32) and 0..15 (B64, on 16-bit units).
//  - dot_u8s8(acc, w, a): lane + sum of 4 products of unsigned bytes w and signed bytes a, exact (mod 2^32).
//    dot_u7s8 is the same for w <= 127, cheaper without VNNI (where kFastByteDots is false). The pointer form
//    broadcasts 4 activations to all lanes.
//  - dot_s16s16_pair(acc, w, a): lane + sum of 2 products of int16.
//  - lookup16(index, table): table[index] per byte, every index in 0..15.
#pragma once

#if !defined(QUIRE_ISA)
#error "kernels/vec is for *.kern.cc files, which quire_kernels() compiles once per ISA"
#endif

#include <cstdint>

// Scalar code is the specification, not a product: leaving inlining to the compiler halves its build time.
#if defined(QUIRE_ISA_IS_SCALAR)
#define QUIRE_VEC_FN static inline
#else
#define QUIRE_VEC_FN [[gnu::always_inline]] static inline
#endif
#define QUIRE_VEC_MEMBER [[gnu::always_inline]] inline  // member functions of types in an ISA namespace

namespace quire::kernels::QUIRE_ISA {

inline constexpr int kLanes = 16;

// Asks for the cache line at p; never faults.
QUIRE_VEC_FN void prefetch(const void* p) { __builtin_prefetch(p); }
// The same, no nearer than the second-level cache.
QUIRE_VEC_FN void prefetch_far(const void* p) { __builtin_prefetch(p, 0, 2); }

}  // namespace quire::kernels::QUIRE_ISA

#if defined(QUIRE_ISA_IS_AVX512) || defined(QUIRE_ISA_IS_AVX512VNNI)
#include "kernels/vec/vec_avx512.h"  // IWYU pragma: export
#elif defined(QUIRE_ISA_IS_AVX2)
#include "kernels/vec/vec_avx2.h"  // IWYU pragma: export
#elif defined(QUIRE_ISA_IS_SCALAR)
#include "kernels/vec/vec_scalar.h"  // IWYU pragma: export
#else
#error "no vector layer for this ISA"
#endif

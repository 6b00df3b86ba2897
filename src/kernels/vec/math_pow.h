// pow on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/math_log.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// An unevaluated sum hi + lo, good to about 2^-45 of hi.
struct TwoFloats {
  F32 hi, lo;
};

// log2(x) for finite x > 0: log2(m) = 2 / ln2 * atanh(s) with s = (m - 1) / (m + 1), the first term in two
// floats.
QUIRE_VEC_FN TwoFloats log2_two_floats(F32 x) {
  const Split split = split_exponent(x);
  const F32 f = sub(split.m, set1(1.0f));
  const F32 t = add(set1(2.0f), f);
  const F32 t_lo = sub(f, sub(t, set1(2.0f)));
  const F32 s = div(f, t);
  const F32 s_lo = div(neg_mul_add(s, t_lo, neg_mul_add(s, t, f)), t);
  const F32 s2 = mul(s, s);

  F32 p = set1(0x1.5c6cfap-2f);  // minimax for the terms from s^3 on
  p = mul_add(p, s2, set1(0x1.a595dp-2f));
  p = mul_add(p, s2, set1(0x1.277768p-1f));
  p = mul_add(p, s2, set1(0x1.ec709ep-1f));

  const F32 two_over_ln2 = set1(0x1.715476p+1f);
  const F32 first = mul(two_over_ln2, s);
  F32 rest = mul_add(set1(0x1.4ae0cp-25f), s, mul_add(two_over_ln2, s_lo, mul(mul(s, s2), p)));
  rest = add(mul_sub(two_over_ln2, s, first), rest);

  const F32 e = to_f32(split.exponent);
  const F32 sum = add(e, first);
  const F32 sum_lo = add(sub(first, sub(sum, e)), rest);
  const F32 hi = add(sum, sum_lo);
  return {.hi = hi, .lo = add(sub(sum, hi), sum_lo)};
}

// x^y for x >= 0 and finite y, within 4 ulp; x^0 = 1, NaN for x < 0.
QUIRE_VEC_FN F32 pow(F32 x, F32 y) {
  const TwoFloats log2_x = log2_two_floats(x);
  const F32 product = mul(y, log2_x.hi);
  const F32 product_lo = mul_add(y, log2_x.lo, mul_sub(y, log2_x.hi, product));

  const F32 limit = set1(200.0f);  // 2^200 is Inf and 2^-200 is 0
  const F32 clamped = max(neg(limit), min(limit, product));
  const F32 n = round_even(clamped);
  const F32 r = add(sub(clamped, n), select(cmp_lt(abs(product), limit), product_lo, zero()));
  F32 p = set1(0x1.41fa9cp-13f);  // minimax for (2^r - 1) / r
  p = mul_add(p, r, set1(0x1.5f400ep-10f));
  p = mul_add(p, r, set1(0x1.3b2d52p-7f));
  p = mul_add(p, r, set1(0x1.c6aee6p-5f));
  p = mul_add(p, r, set1(0x1.ebfbdcp-3f));
  p = mul_add(p, r, set1(0x1.62e43p-1f));
  F32 result = scale_by_pow2(mul_add(p, r, set1(1.0f)), n);

  const F32 infinity = set1(__builtin_inff());
  const Mask rising = cmp_gt(y, zero());
  result = select(cmp_eq(x, zero()), select(rising, zero(), infinity), result);
  result = select(cmp_eq(x, infinity), select(rising, infinity, zero()), result);
  const Mask bad = mask_or(cmp_lt(x, zero()), cmp_unord(x, y));
  result = select(bad, set1(__builtin_nanf("")), result);
  return select(cmp_eq(y, zero()), set1(1.0f), result);
}

}  // namespace quire::kernels::QUIRE_ISA

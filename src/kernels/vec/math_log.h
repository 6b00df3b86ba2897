// log, log1p and softplus on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/math_exp.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)), for finite x > 0 (denormals too).
struct Split {
  F32 m;
  I32 exponent;
};
QUIRE_VEC_FN Split split_exponent(F32 x) {
  const Mask tiny = cmp_lt(x, set1(0x1p-126f));
  const I32 bits = bits_of(select(tiny, mul(x, set1(0x1p23f)), x));
  const I32 exponent = shift_right_arith<23>(isub(bits, iset1(0x3f3504f3)));  // bits of sqrt(1/2)
  const I32 shift = iselect(tiny, iset1(23), izero());
  return {.m = f32_from_bits(isub(bits, shift_left<23>(exponent))), .exponent = isub(exponent, shift)};
}

// log(1 + f) + e ln2 for f in [sqrt(1/2) - 1, sqrt(2) - 1] and whole e.
// Minimax polynomial for (log(1 + f) - f + f^2 / 2) / f^3.
QUIRE_VEC_FN F32 log_of_split(F32 f, F32 e) {
  F32 p = set1(0x1.1457a8p-4f);
  p = mul_add(p, f, set1(-0x1.de3c16p-4f));
  p = mul_add(p, f, set1(0x1.e6f06cp-4f));
  p = mul_add(p, f, set1(-0x1.fc2208p-4f));
  p = mul_add(p, f, set1(0x1.233768p-3f));
  p = mul_add(p, f, set1(-0x1.555c4ep-3f));
  p = mul_add(p, f, set1(0x1.99a4b6p-3f));
  p = mul_add(p, f, set1(-0x1.000006p-2f));
  p = mul_add(p, f, set1(0x1.555548p-2f));
  const F32 f2 = mul(f, f);
  F32 rest = mul_add(mul(f, f2), p, mul(e, set1(-0x1.05c61p-29f)));
  rest = neg_mul_add(set1(0.5f), f2, rest);
  return mul_add(e, set1(0x1.62e43p-1f), add(f, rest));
}

// The values of log outside its open domain: -Inf at `edge`, NaN below it and for NaN, Inf for Inf.
QUIRE_VEC_FN F32 log_edges(F32 x, F32 result, F32 edge) {
  const F32 infinity = set1(__builtin_inff());
  result = select(cmp_eq(x, infinity), infinity, result);
  result = select(cmp_eq(x, edge), neg(infinity), result);
  const Mask bad = mask_or(cmp_lt(x, edge), cmp_unord(x, x));
  return select(bad, set1(__builtin_nanf("")), result);
}

// Natural logarithm, within 1 ulp.
QUIRE_VEC_FN F32 log(F32 x) {
  const Split s = split_exponent(x);
  return log_edges(x, log_of_split(sub(s.m, set1(1.0f)), to_f32(s.exponent)), zero());
}

// log(1 + x), within 2 ulp, also for tiny x. The rounding error of 1 + x joins the small part.
QUIRE_VEC_FN F32 log1p(F32 x) {
  const F32 one = set1(1.0f);
  const F32 u = add(one, x);
  const F32 v = sub(u, one);
  const F32 lost = add(sub(one, sub(u, v)), sub(x, v));  // exactly 1 + x - u
  const Split s = split_exponent(u);
  const F32 scaled = scale_by_pow2(lost, isub(izero(), s.exponent));
  const F32 f = add(sub(s.m, one), scaled);
  // Without an exponent f is x itself.
  const F32 exact = select(icmp_eq(s.exponent, izero()), x, f);
  return log_edges(x, log_of_split(exact, to_f32(s.exponent)), neg(one));
}

// log(1 + e^x), within 2 ulp.
QUIRE_VEC_FN F32 softplus(F32 x) { return add(max(x, zero()), log1p(exp(neg(abs(x))))); }

}  // namespace quire::kernels::QUIRE_ISA

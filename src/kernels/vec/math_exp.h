// exp, tanh and sigmoid on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// e^x, within 1 ulp (denormal results too); +Inf above 88.73, 0 below -103.98.
// x = n ln2 + r with |r| <= ln2 / 2, e^x = 2^n e^r; minimax polynomial for (e^r - 1 - r) / r^2.
QUIRE_VEC_FN F32 exp(F32 x) {
  x = max(set1(-104.0f), min(set1(89.0f), x));  // constants first: NaN passes through
  const F32 n = round_even(mul(x, set1(0x1.715476p+0f)));
  F32 r = neg_mul_add(n, set1(0x1.62e43p-1f), x);
  r = neg_mul_add(n, set1(-0x1.05c61p-29f), r);
  F32 p = set1(0x1.6a2418p-10f);
  p = mul_add(p, r, set1(0x1.1239f2p-7f));
  p = mul_add(p, r, set1(0x1.5558f2p-5f));
  p = mul_add(p, r, set1(0x1.555492p-3f));
  p = mul_add(p, r, set1(0x1.fffffcp-2f));
  p = mul_add(p, mul(r, r), r);
  return scale_by_pow2(add(p, set1(1.0f)), n);
}

// 1 / (1 + e^-x), within 2 ulp where the result is above 2^-126; 0 below.
QUIRE_VEC_FN F32 sigmoid(F32 x) {
  const F32 one = set1(1.0f);
  return div(one, add(one, exp(neg(x))));
}

// Within 2 ulp. Near zero an odd polynomial, elsewhere 1 - 2 / (e^2|x| + 1).
QUIRE_VEC_FN F32 tanh(F32 x) {
  const F32 one = set1(1.0f);
  const F32 size = abs(x);
  const F32 t = mul(x, x);
  F32 p = set1(0x1.190bc2p-9f);
  p = mul_add(p, t, set1(-0x1.0c03d6p-7f));
  p = mul_add(p, t, set1(0x1.638f22p-6f));
  p = mul_add(p, t, set1(-0x1.b9eefep-5f));
  p = mul_add(p, t, set1(0x1.111068p-3f));
  p = mul_add(p, t, set1(-0x1.555554p-2f));
  const F32 near_zero = mul_add(mul(p, t), size, size);

  const F32 elsewhere = sub(one, div(set1(2.0f), add(exp(add(size, size)), one)));
  const I32 result = bits_of(select(cmp_lt(size, set1(0.625f)), near_zero, elsewhere));
  return f32_from_bits(ior(result, iand(bits_of(x), iset1(INT32_MIN))));
}

}  // namespace quire::kernels::QUIRE_ISA

// The activation functions of neural networks on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/math_exp.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// x * sigmoid(x), within 3 ulp where the result is normal.
QUIRE_VEC_FN F32 silu(F32 x) { return div(x, add(set1(1.0f), exp(neg(x)))); }

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), written as x * sigmoid(2 ...): no cancellation for
// negative x. Error at most 2^-22 * max(|result|, 2^-3 |x|).
QUIRE_VEC_FN F32 gelu_tanh(F32 x) {
  const F32 inner = mul(x, mul_add(mul(x, x), set1(0x1.2444f2p-4f), set1(0x1.988454p+0f)));
  return div(x, add(set1(1.0f), exp(neg(inner))));
}

// x * Phi(x), the exact GELU. Error at most 6 ulp where the result is normal.
// With z = |x| / sqrt(2): Phi = erfc(z) / 2 on the left, 1 - erfc(z) / 2 on the right, and
// erfc(z) = e^(-z^2) F(u) / (1 + 2z), u = (z - 3) / (z + 3), F a minimax polynomial for z up to 10.3, beyond
// which e^(-z^2) is 0.
QUIRE_VEC_FN F32 gelu_erf(F32 x) {
  const F32 one = set1(1.0f);
  const F32 size = min(set1(14.56f), abs(x));  // constant first: NaN passes through
  const F32 z = mul(size, set1(0x1.6a09e6p-1f));
  const F32 u = div(sub(z, set1(3.0f)), add(z, set1(3.0f)));
  F32 p = set1(-0x1.172a8cp-12f);
  p = mul_add(p, u, set1(-0x1.951a98p-11f));
  p = mul_add(p, u, set1(0x1.06c77ep-9f));
  p = mul_add(p, u, set1(0x1.504b18p-9f));
  p = mul_add(p, u, set1(-0x1.85ee82p-6f));
  p = mul_add(p, u, set1(0x1.17bd48p-4f));
  p = mul_add(p, u, set1(-0x1.e8884ep-4f));
  p = mul_add(p, u, set1(0x1.098414p-3f));
  p = mul_add(p, u, set1(-0x1.85a1ap-5f));
  p = mul_add(p, u, set1(-0x1.15c08ap-3f));
  p = mul_add(p, u, set1(0x1.40c522p+0f));

  // z^2 = x^2 / 2 in two floats, as an error of z^2 is multiplied by z^2 in the exponential.
  const F32 half = mul(size, set1(0.5f));
  const F32 square = mul(half, size);
  const F32 square_lo = mul_sub(half, size, square);
  const F32 e = exp(neg(square));
  const F32 gauss = neg_mul_add(e, square_lo, e);
  const F32 half_erfc = div(mul(mul(gauss, p), set1(0.5f)), mul_add(z, set1(2.0f), one));
  return mul(x, select(cmp_lt(x, zero()), half_erfc, sub(one, half_erfc)));
}

// max(0, x); NaN passes through.
QUIRE_VEC_FN F32 relu(F32 x) { return max(zero(), x); }

}  // namespace quire::kernels::QUIRE_ISA

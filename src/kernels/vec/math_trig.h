// sin and cos on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct SinCos {
  F32 sin, cos;
};

// Both within 2 ulp for |x| <= 2^20; beyond that the reduction loses digits; NaN for Inf.
// x = n pi/2 + r with |r| <= pi / 4. pi/2 is the sum of three floats: the first step is exact (n has 20 bits,
// the difference 24), the later ones round at the size of r.
QUIRE_VEC_FN SinCos sin_cos(F32 x) {
  const F32 n = round_even(mul(x, set1(0x1.45f306p-1f)));
  F32 r = neg_mul_add(n, set1(0x1.921fb6p+0f), x);
  r = neg_mul_add(n, set1(-0x1.777a5cp-25f), r);
  r = neg_mul_add(n, set1(-0x1.ee59dap-50f), r);
  const F32 t = mul(r, r);

  F32 s = set1(0x1.6ccf5ep-19f);
  s = mul_add(s, t, set1(-0x1.a00f74p-13f));
  s = mul_add(s, t, set1(0x1.111108p-7f));
  s = mul_add(s, t, set1(-0x1.555556p-3f));
  const F32 sin_r = mul_add(mul(s, t), r, r);

  F32 c = set1(-0x1.241caap-22f);
  c = mul_add(c, t, set1(0x1.a010d6p-16f));
  c = mul_add(c, t, set1(-0x1.6c16b8p-10f));
  c = mul_add(c, t, set1(0x1.555556p-5f));
  const F32 cos_r = mul_add(mul(c, t), t, neg_mul_add(set1(0.5f), t, set1(1.0f)));

  // Quadrant n mod 4: odd swaps the two; the sign of sin flips in 2 and 3, that of cos in 1 and 2.
  const I32 quadrant = round_to_i32(n);
  const Mask odd = icmp_eq(iand(quadrant, iset1(1)), iset1(1));
  const I32 sin_sign = shift_left<30>(iand(quadrant, iset1(2)));
  const I32 cos_sign = shift_left<30>(iand(iadd(quadrant, iset1(1)), iset1(2)));
  return {.sin = f32_from_bits(ixor(bits_of(select(odd, cos_r, sin_r)), sin_sign)),
          .cos = f32_from_bits(ixor(bits_of(select(odd, sin_r, cos_r)), cos_sign))};
}

}  // namespace quire::kernels::QUIRE_ISA

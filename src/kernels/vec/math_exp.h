// exp, tanh and sigmoid on 16 lanes. See math.h.
#pragma once

#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// e^x of several vectors, step by step side by side: alone each would wait for its own last step.
// Within 1 ulp (denormal results too); +Inf above 88.73, 0 below -103.98.
// x = n ln2 + r with |r| <= ln2 / 2, e^x = 2^n e^r; minimax polynomial for (e^r - 1 - r) / r^2.
template <int kCount>
QUIRE_VEC_FN void exp_each(F32 (&x)[kCount]) {
  Mask counts[kCount];
  F32 n[kCount], p[kCount];
  const auto each = [](const auto& step)
                        QUIRE_INLINE_LAMBDA { QUIRE_UNROLL for (int i = 0; i < kCount; ++i) step(i); };
  // Lanes that vanish are cut, not computed: a result that underflows costs a hundred instructions.
  each([&](int i) QUIRE_INLINE_LAMBDA { counts[i] = mask_not(cmp_lt(x[i], set1(-104.0f))); });  // NaN counts
  each([&](int i) QUIRE_INLINE_LAMBDA { x[i] = min(set1(89.0f), x[i]); });  // constant first: NaN passes
  each([&](int i) QUIRE_INLINE_LAMBDA {
    n[i] = round_even(select(counts[i], mul(x[i], set1(0x1.715476p+0f)), zero()));
  });
  each([&](int i) QUIRE_INLINE_LAMBDA { x[i] = neg_mul_add(n[i], set1(0x1.62e43p-1f), x[i]); });
  each([&](int i) QUIRE_INLINE_LAMBDA { x[i] = neg_mul_add(n[i], set1(-0x1.05c61p-29f), x[i]); });
  each([&](int i) QUIRE_INLINE_LAMBDA { p[i] = mul_add(set1(0x1.6a2418p-10f), x[i], set1(0x1.1239f2p-7f)); });
  each([&](int i) QUIRE_INLINE_LAMBDA { p[i] = mul_add(p[i], x[i], set1(0x1.5558f2p-5f)); });
  each([&](int i) QUIRE_INLINE_LAMBDA { p[i] = mul_add(p[i], x[i], set1(0x1.555492p-3f)); });
  each([&](int i) QUIRE_INLINE_LAMBDA { p[i] = mul_add(p[i], x[i], set1(0x1.fffffcp-2f)); });
  each([&](int i) QUIRE_INLINE_LAMBDA { p[i] = mul_add(p[i], mul(x[i], x[i]), x[i]); });
  each([&](int i) QUIRE_INLINE_LAMBDA {
    x[i] = select(counts[i], scale_by_pow2(add(p[i], set1(1.0f)), n[i]), zero());
  });
}

QUIRE_VEC_FN F32 exp(F32 x) {
  F32 v[1] = {x};
  exp_each(v);
  return v[0];
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

// What the kernels of types with super-blocks of 256 values share; activations are kQ8x32. For *.kern.cc
// files.
//
// The scale of a run of values (32 or 16) is the super-block's d times a small integer, exact in f32, so that
// a run is treated like a block of the simpler types: acc = fma(f32(isum), scale * a_scale, acc).
#pragma once

#include "kernels/linear/blocks32.h"

namespace quire::kernels::QUIRE_ISA {

// sum[m] += codes * activations of row m at step `step` of its block.
template <int kRows>
QUIRE_VEC_FN void add_step(I32 (&sum)[kRows], B64 codes, const int8_t* activations, int step) {
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    sum[m] = dot_u7s8(sum[m], codes, activations + m * kActivationBlock + 4 * step);
  }
}

// acc[m] += sum[m] * scale * a_scales[m].
template <int kRows>
QUIRE_VEC_FN void add_scaled(F32 (&acc)[kRows], const I32 (&sum)[kRows], F32 scale, const float* a_scales) {
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    acc[m] = mul_add(to_f32(sum[m]), mul(scale, set1(a_scales[m])), acc[m]);
  }
}

}  // namespace quire::kernels::QUIRE_ISA

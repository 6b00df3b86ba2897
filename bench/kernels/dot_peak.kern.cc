#include "dot_peak.h"

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

int32_t dot_product_run(int64_t n_steps) {
  I32 sum[kDotChains];
  _Pragma("GCC unroll 16") for (I32& lane : sum) lane = izero();
  const B64 codes = bset1(3);
  const I32 activations = as_i32(bset1(5));
  for (int64_t step = 0; step < n_steps; ++step) {
    _Pragma("GCC unroll 16") for (I32& lane : sum) lane = dot_u8s8(lane, codes, activations);
    // The loop may not become a multiplication.
    __asm__ volatile("" : : : "memory");
  }
  I32 total = izero();
  _Pragma("GCC unroll 16") for (const I32& lane : sum) total = iadd(total, lane);
  return ireduce_add(total);
}

}  // namespace quire::kernels::QUIRE_ISA

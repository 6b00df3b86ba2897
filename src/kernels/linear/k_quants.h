// Parts of the kernels for types with super-blocks of 256 values, activations kQ8x256. For *.kern.cc files.
//
// Per super-block ascending, per output, with isum[j] the exact integer dot product of sub-block j and, for
// Q4_K and Q5_K, msum = sum of minimum * (sum of activation codes), exact too:
//   t = 0;  t = fma(f32(isum[j]), f32(scale[j]), t), j ascending;
//   t = t * d;  t = fma(-f32(msum), dmin, t) (Q4_K, Q5_K);  acc = fma(t, a_scale, acc).
// An integer sum over sub-blocks would need a 32-bit multiplication, which takes the place of two dot
// products on many processors; a conversion and an fma take that of one or two.
#pragma once

#include "kernels/linear/walk.h"

namespace quire::kernels::QUIRE_ISA {

// f32 accumulators of up to kRows outputs. Beyond four rows they live in memory that the compiler knows
// nothing about, where a super-block touches them once: the registers are needed for the sums of all rows.
template <int kRows>
class Accumulators {
 public:
  QUIRE_VEC_MEMBER explicit Accumulators(float* memory) : memory_(memory) {
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) set(m, zero());
  }
  QUIRE_VEC_MEMBER F32 get(int m) const { return kInMemory ? load(memory_ + m * kLanes) : registers_[m]; }
  QUIRE_VEC_MEMBER void set(int m, F32 value) {
    if constexpr (kInMemory) {
      store(memory_ + m * kLanes, value);
    } else {
      registers_[m] = value;
    }
  }

 private:
  static constexpr bool kInMemory = kRows > 4;
  F32 registers_[kInMemory ? 1 : kRows];
  float* memory_;
};

QUIRE_VEC_FN Q8x256Tile q8x256_tile_of(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
  return q8x256_tile(args.activations + first_row * activation_row_bytes(ActivationKind::kQ8x256, args.k),
                     n_rows, activation_blocks(ActivationKind::kQ8x256, args.k));
}

// sum[m] += codes * activations of row m at step `step` of its block.
template <int kRows>
QUIRE_VEC_FN void add_step(I32 (&sum)[kRows], B64 codes, const int8_t* activations, int step) {
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    sum[m] = dot_u7s8(sum[m], codes, activations + m * kActivationBlock + 4 * step);
  }
}

}  // namespace quire::kernels::QUIRE_ISA

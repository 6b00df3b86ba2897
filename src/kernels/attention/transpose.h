// Sixteen vectors as the columns of sixteen others.
#pragma once

#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// Lane j of vector i becomes lane i of vector j. One interleaving moves the highest bit of a vector's number
// to the lowest of the lane's; four exchange the two.
static inline void transpose16(F32 (&v)[kLanes]) {
  constexpr int kHalf = kLanes / 2;
  for (int step = 0; step < 4; ++step) {
    F32 mixed[kLanes];
    QUIRE_UNROLL for (int i = 0; i < kHalf; ++i) {
      mixed[2 * i] = interleave_low(v[i], v[i + kHalf]);
      mixed[2 * i + 1] = interleave_high(v[i], v[i + kHalf]);
    }
    QUIRE_UNROLL for (int i = 0; i < kLanes; ++i) v[i] = mixed[i];
  }
}

}  // namespace quire::kernels::QUIRE_ISA

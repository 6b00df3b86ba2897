// Reductions of the rows of a block at once: lane r of the result is what reduce_max or reduce_add give of
// rows[r]. One row's reduction waits for each of its four steps; eight rows take them together.
#pragma once

#include "kernels/attention/block.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// A step of halving for two vectors: lane i meets lane i + 8, and the answers lie side by side, those of `a`
// in the even lanes. Four steps reduce a vector; a step that brings two rows together leaves half as many.
template <typename Op>
QUIRE_VEC_FN F32 halve(F32 a, F32 b, const Op& op) {
  return op(interleave_low(a, b), interleave_high(a, b));
}

template <int kRows, typename Op>
QUIRE_VEC_FN F32 halve_rows(const F32 (&rows)[kRows], const Op& op) {
  constexpr int kMost = 8;
  static_assert(kRows <= kMost);
  F32 v[kMost];
  QUIRE_UNROLL for (int r = 0; r < kMost; ++r) v[r] = r < kRows ? rows[r] : zero();
  // The step that meets rows r and r + n adds a lowest bit to the lane's number: the highest of r comes
  // first.
  QUIRE_UNROLL for (int r = 0; r < 4; ++r) v[r] = halve(v[r], v[r + 4], op);
  QUIRE_UNROLL for (int r = 0; r < 2; ++r) v[r] = halve(v[r], v[r + 2], op);
  v[0] = halve(v[0], v[1], op);
  v[0] = halve(v[0], v[0], op);  // row r in lanes 2r and 2r + 1
  return even_lanes(v[0], v[0]);
}

template <int kRows>
QUIRE_VEC_FN F32 max_of_rows(const F32 (&rows)[kRows]) {
  if constexpr (kRows == 1) return set1(reduce_max(rows[0]));
  return halve_rows(rows, [](F32 a, F32 b) QUIRE_INLINE_LAMBDA { return max(a, b); });
}

template <int kRows>
QUIRE_VEC_FN F32 sum_of_rows(const F32 (&rows)[kRows]) {
  if constexpr (kRows == 1) return set1(reduce_add(rows[0]));
  return halve_rows(rows, [](F32 a, F32 b) QUIRE_INLINE_LAMBDA { return add(a, b); });
}

}  // namespace quire::kernels::QUIRE_ISA

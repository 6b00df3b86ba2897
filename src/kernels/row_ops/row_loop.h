// The column loop every row operation shares: full vectors of 16, then one partial vector. For *.kern.cc
// files only.
#pragma once

#include <cstdint>

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// How one step of the loop touches memory. In the last step lanes past the end load as zero and are not
// stored.
struct FullVector {
  QUIRE_VEC_MEMBER F32 load(const float* p) const { return QUIRE_ISA::load(p); }
  QUIRE_VEC_MEMBER void store(float* p, F32 v) const { QUIRE_ISA::store(p, v); }
  // v, with lanes past the end replaced.
  QUIRE_VEC_MEMBER F32 keep(F32 v, F32 /*past_end*/) const { return v; }
  // For 32 values at twice the index (pairs of columns): the first and second 16 of them.
  QUIRE_VEC_MEMBER FullVector low_of_pairs() const { return {}; }
  QUIRE_VEC_MEMBER FullVector high_of_pairs() const { return {}; }
};
struct PartialVector {
  int n;
  QUIRE_VEC_MEMBER F32 load(const float* p) const { return load_partial(p, n); }
  QUIRE_VEC_MEMBER void store(float* p, F32 v) const { store_partial(p, v, n); }
  QUIRE_VEC_MEMBER F32 keep(F32 v, F32 past_end) const { return select(mask_first(n), v, past_end); }
  QUIRE_VEC_MEMBER PartialVector low_of_pairs() const { return {2 * n}; }
  QUIRE_VEC_MEMBER PartialVector high_of_pairs() const { return {2 * n - kLanes}; }
};

// Calls step(i, io) for i = 0, 16, ... below n.
template <typename Step>
QUIRE_VEC_FN void for_columns(int64_t n, const Step& step) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) step(i, FullVector{});
  if (i < n) step(i, PartialVector{static_cast<int>(n - i)});
}

}  // namespace quire::kernels::QUIRE_ISA

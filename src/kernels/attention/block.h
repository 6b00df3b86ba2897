// A block: up to kBlockRows rows that share every load of a chunk, and the register tiles it is computed in,
// rows x columns of F32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/score.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

inline constexpr size_t kCacheLine = 64;
inline constexpr int kBlockRows = kNoRegister ? 1 : 6;
inline constexpr int kAccumulators =
    kOneRegister ? 24 : 6;  // F32 sums a tile keeps in registers, beside operands

// Largest power of two <= limit that leaves n_rows x columns within the accumulators.
static constexpr int columns_for(int n_rows, int limit) {
  int columns = limit;
  while (columns > 1 && columns * n_rows > kAccumulators) columns /= 2;
  return columns;
}

// Calls fn<n_rows>().
template <typename Fn>
QUIRE_VEC_FN void with_row_count([[maybe_unused]] int32_t n_rows, const Fn& fn) {
  if constexpr (kBlockRows == 1) {
    fn.template operator()<1>();
  } else {
    switch (n_rows) {
      case 1:
        return fn.template operator()<1>();
      case 2:
        return fn.template operator()<2>();
      case 3:
        return fn.template operator()<3>();
      case 4:
        return fn.template operator()<4>();
      case 5:
        return fn.template operator()<5>();
      default:
        return fn.template operator()<kBlockRows>();
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA

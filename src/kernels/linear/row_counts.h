// Which numbers of rows a kernel is compiled for; a tile is cut into such pieces. For *.kern.cc files.
//
// Speed only: an output does not depend on the rows beside its own. Sanitizer builds compile few, because
// their compilers take minutes over a dozen.
#pragma once

#include <cstdint>

#include "kernels/linear/activation_layout.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// Rows one kernel call may take: a lane register each for the block's integer sums and for the output, of 32
// registers where an F32 is one register, of 16 where it is two; in scalar code an F32 is an array in memory.
static constexpr int kMaxRows = alignof(F32) == 64 ? kTileRows : alignof(F32) == 32 ? 4 : 1;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUIRE_FEW_ROW_COUNTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define QUIRE_FEW_ROW_COUNTS 1
#endif
#endif

// Whether kernels are compiled for n rows.
constexpr bool compiled_for(int n) {
#if defined(QUIRE_FEW_ROW_COUNTS)
  return n == 1 || n == 4;
#else
  return n > 0;
#endif
}

// Calls run.operator()<n>(row).
template <int kMost, typename Run>
static inline void run_piece(int64_t n, int64_t row, const Run& run) {
  if constexpr (compiled_for(kMost)) {
    if (n >= kMost) return run.template operator()<kMost>(row);
  }
  if constexpr (kMost > 1) run_piece<kMost - 1>(n, row, run);
}

// The same for pieces of at most kMost rows, about equal, that make up [row, end).
template <int kMost, typename Run>
static inline void for_row_pieces(int64_t row, int64_t end, const Run& run) {
  while (row < end) {
    const int64_t left = end - row;
    const int64_t pieces = (left + kMost - 1) / kMost;
    int64_t n = (left + pieces - 1) / pieces;
    while (!compiled_for(static_cast<int>(n))) --n;
    run_piece<kMost>(n, row, run);
    row += n;
  }
}

// Columns of group `group` that exist, 1 .. 16.
static inline int valid_columns(const LinearArgs& args, int64_t group) {
  const int64_t left = args.n - group * kGroupRows;
  return left < kGroupRows ? static_cast<int>(left) : kGroupRows;
}

}  // namespace quire::kernels::QUIRE_ISA

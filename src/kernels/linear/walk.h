// The walk every linear kernel shares: groups of weights against tiles of activation rows. For *.kern.cc
// files.
//
// A kernel is a struct with
//   using Tile = ...;                                          its view of an activation tile
//   static int64_t group_bytes(int64_t k);
//   static Tile tile(const LinearArgs&, int64_t first_row, int64_t n_rows);
//   template <int kRows>
//   static void rows(const GroupCall&, const Tile&, int64_t row);   rows [row, row + kRows) of the tile
// and walk<Kernel>(args, group_begin, group_end) is its LinearKernel::run. The walk decides speed only: an
// output's value does not depend on kRows, tile or order.
#pragma once

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/weight_layout.h"
#include "kernels/vec/vec.h"

#define QUIRE_UNROLL _Pragma("GCC unroll 16")
#define QUIRE_NO_UNROLL _Pragma("GCC unroll 1")

namespace quire::kernels::QUIRE_ISA {

// Rows one kernel call may take: a lane register each for the block's integer sums and for the output, of 32
// registers where an F32 is one register, of 16 where it is two; in scalar code an F32 is an array in memory.
static constexpr int kMaxRows = alignof(F32) == 64 ? kTileRows : alignof(F32) == 32 ? 4 : 1;

// Up to this many rows a group stays near while all tiles pass; above, tiles are large against the groups of
// a call, which then stay near instead.
static constexpr int64_t kGroupOuterRows = 96;

// How far ahead of a read its cache line is asked for, when the next group will not follow at once.
static constexpr int64_t kStreamAhead = 4096;

// One group against one tile.
struct GroupCall {
  const std::byte* weights;  // the group
  int64_t k;
  int64_t ahead;  // bytes; prefetch distance in the weight stream, 0 for none
  float* out;     // first row of the tile, first column of the group
  int64_t ld_out;
  int n_valid;  // columns, 1 .. 16
};

// Asks for kBytes of the weight stream, `ahead` bytes after p; 0 asks for nothing.
template <int kBytes>
QUIRE_VEC_FN void prefetch_ahead(const std::byte* p, int64_t ahead) {
  if (ahead == 0) return;
  QUIRE_UNROLL for (int at = 0; at < kBytes; at += 64) prefetch(p + at + ahead);
}

// Between two blocks: the compiler neither holds what it loaded for the first in registers for the second,
// nor starts the second early; both would cost registers that the sums of 12 rows need.
QUIRE_VEC_FN void end_of_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

QUIRE_VEC_FN void store_outputs(const GroupCall& call, int64_t row, F32 values) {
  float* out = call.out + row * call.ld_out;
  if (call.n_valid == kGroupRows) {
    store(out, values);
  } else {
    store_partial(out, values, call.n_valid);
  }
}

template <typename Kernel, int kRows>
static void run_rows(const GroupCall& call, const typename Kernel::Tile& tile, int64_t row, int64_t n_rows) {
  if (n_rows == kRows) {
    Kernel::template rows<kRows>(call, tile, row);
  } else if constexpr (kRows > 1) {
    run_rows<Kernel, kRows - 1>(call, tile, row, n_rows);
  }
}

template <typename Kernel>
static void run_tile(const GroupCall& call, const typename Kernel::Tile& tile, int64_t n_rows) {
  for (int64_t row = 0; row < n_rows; row += kMaxRows) {
    const int64_t left = n_rows - row;
    run_rows<Kernel, kMaxRows>(call, tile, row, left < kMaxRows ? left : kMaxRows);
  }
}

template <typename Kernel>
static void walk(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  const int64_t group_bytes = Kernel::group_bytes(args.k);
  const RowTiles tiles = row_tiles(args.m);
  const auto visit = [&](int64_t group, int64_t t) {
    const int64_t first = tile_begin(tiles, t);
    const int64_t n_rows = tile_begin(tiles, t + 1) - first;
    const int64_t column = group * kGroupRows;
    const int64_t columns_left = args.n - column;
    // The first tile of several fetches the group that comes after this one; later tiles find theirs near.
    const bool stays_near = tiles.count > 1 && args.m <= kGroupOuterRows;
    const int64_t ahead = t > 0 ? 0 : stays_near ? group_bytes : kStreamAhead;
    const GroupCall call = {
        .weights = args.weights + group * group_bytes,
        .k = args.k,
        .ahead = ahead,
        .out = args.out + first * args.ld_out + column,
        .ld_out = args.ld_out,
        .n_valid = columns_left < kGroupRows ? static_cast<int>(columns_left) : kGroupRows};
    run_tile<Kernel>(call, Kernel::tile(args, first, n_rows), n_rows);
  };
  if (args.m <= kGroupOuterRows) {
    for (int64_t group = group_begin; group < group_end; ++group) {
      for (int64_t t = 0; t < tiles.count; ++t) visit(group, t);
    }
  } else {
    for (int64_t t = 0; t < tiles.count; ++t) {
      for (int64_t group = group_begin; group < group_end; ++group) visit(group, t);
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA

// Where quantised activation rows lie: tiles of at most kTileRows rows, each in the order kernels read it.
//
// m rows are cut into equal tiles (32 rows: 11, 11, 10), which lie one after the other; rows before a tile
// take row_bytes() each. Inside a tile of T rows with nb blocks of 32 values, arrays follow each other:
//
//   codes            s8  [nb][T][32]
//   scales           f32 [nb][T]     amax / 127 of the 32 values
//   sums             f32 [nb][T]     sum of the 32 codes
//   half_sums        f32 [nb][2][T]  sum of each 16 codes
//   start_8          s32 [nb][T]     kSumBiasBits - 8 * sum of the 32 codes; likewise start_16, start_128
//   start_32_halves  s32 [nb][2][T]  kSumBiasBits - 32 * sum of each 16 codes; likewise start_128_halves
//
// With two planes there are 2m rows: row r holds the codes of x, row m + r those of what they leave over.
// k is padded with zeros to whole blocks. The sums spare kernels the arithmetic of codes stored around an
// offset or with a minimum; a kernel reads only the arrays it needs. What a block's integer sum starts at
// contains kSumBiasBits: read as a float, the finished sum is then kSumBias + sum, without a conversion.
// Offsets and views only; nothing here owns memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear.h"

namespace quire::kernels {

static constexpr int kTileRows = 12;

// 1.5 * 2^23, whose bits plus an integer n, |n| < 2^22, are those of 1.5 * 2^23 + n.
static constexpr float kSumBias = 12582912.0f;
static constexpr int32_t kSumBiasBits = 0x4b400000;

// The cut of m rows into `count` tiles: the first `n_larger` have one row more than the `rows` of the others.
struct RowTiles {
  int64_t count, rows, n_larger;
};
static inline RowTiles row_tiles(int64_t m) {
  const int64_t count = (m + kTileRows - 1) / kTileRows;
  return {.count = count, .rows = m / count, .n_larger = m % count};
}
static inline int64_t tile_begin(const RowTiles& tiles, int64_t t) {
  return t * tiles.rows + (t < tiles.n_larger ? t : tiles.n_larger);
}
// The tile that holds row r.
static inline int64_t tile_of_row(const RowTiles& tiles, int64_t r) {
  const int64_t in_larger = tiles.n_larger * (tiles.rows + 1);
  return r < in_larger ? r / (tiles.rows + 1) : tiles.n_larger + (r - in_larger) / tiles.rows;
}

// Blocks of 32 that k values fill, the last one perhaps in part.
static inline int64_t activation_blocks(int64_t k) { return (k + kActivationBlock - 1) / kActivationBlock; }

// Byte offsets from the start of a tile.
struct Q8x32Offsets {
  int64_t scales, sums, half_sums, start_8, start_16, start_128, start_32_halves, start_128_halves, end;
};
static inline Q8x32Offsets q8x32_offsets(int64_t n_rows, int64_t n_blocks) {
  const int64_t cells = n_rows * n_blocks;
  return {.scales = 32 * cells,
          .sums = 36 * cells,
          .half_sums = 40 * cells,
          .start_8 = 48 * cells,
          .start_16 = 52 * cells,
          .start_128 = 56 * cells,
          .start_32_halves = 60 * cells,
          .start_128_halves = 68 * cells,
          .end = 76 * cells};
}

// Bytes a row adds to its tile.
static inline int64_t activation_row_bytes(ActivationKind kind, int64_t k) {
  if (kind == ActivationKind::kQ8x32) return q8x32_offsets(1, activation_blocks(k)).end;
  return k * static_cast<int64_t>(sizeof(float));
}

// A tile as kernels see it.
struct Q8x32Tile {
  int64_t n_rows;
  const int8_t* codes;
  const float* scales;
  const float* sums;
  const float* half_sums;
  const int32_t* start_8;
  const int32_t* start_16;
  const int32_t* start_128;
  const int32_t* start_32_halves;
  const int32_t* start_128_halves;
};
static inline Q8x32Tile q8x32_tile(const std::byte* tile, int64_t n_rows, int64_t n_blocks) {
  const Q8x32Offsets at = q8x32_offsets(n_rows, n_blocks);
  return {.n_rows = n_rows,
          .codes = reinterpret_cast<const int8_t*>(tile),
          .scales = reinterpret_cast<const float*>(tile + at.scales),
          .sums = reinterpret_cast<const float*>(tile + at.sums),
          .half_sums = reinterpret_cast<const float*>(tile + at.half_sums),
          .start_8 = reinterpret_cast<const int32_t*>(tile + at.start_8),
          .start_16 = reinterpret_cast<const int32_t*>(tile + at.start_16),
          .start_128 = reinterpret_cast<const int32_t*>(tile + at.start_128),
          .start_32_halves = reinterpret_cast<const int32_t*>(tile + at.start_32_halves),
          .start_128_halves = reinterpret_cast<const int32_t*>(tile + at.start_128_halves)};
}

}  // namespace quire::kernels

// Where quantised activation rows lie: tiles of at most kTileRows rows, each in the order kernels read it.
//
// m rows are cut into equal tiles (32 rows: 10, 11, 11), which lie one after the other; rows before a tile
// take row_bytes() each. Inside a tile of T rows with nb blocks of 32 values, arrays follow each other:
//
//   codes               s8  [nb][T][32]
//   scales              f32 [nb][T]     amax / 127 of the 32 values
//   scaled_sums         f32 [nb][T]     scale * sum of the 32 codes
//   minus_8_sums        s32 [nb][T]     -8 * sum of the 32 codes; likewise minus_16_sums, minus_128_sums
//   minus_32_halves     s32 [nb][2][T]  -32 * sum of each 16 codes; likewise minus_128_halves
//   scaled_halves       f32 [nb][2][T]  scale * sum of each 16 codes
//
// With two planes there are 2m rows: row r holds the codes of x, row m + r those of what they leave over.
// k is padded with zeros to whole blocks. The sums spare kernels the arithmetic of codes stored around an
// offset or with a minimum; a kernel reads only the arrays it needs. Offsets and views only; nothing here
// owns memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear.h"

namespace quire::kernels {

static constexpr int kTileRows = 12;
static constexpr int kActivationBlock = 32;
static constexpr int kSuperBlock = 256;

// The cut of m rows into equal tiles.
struct RowTiles {
  int64_t m;
  int64_t count;
};
static inline RowTiles row_tiles(int64_t m) { return {m, (m + kTileRows - 1) / kTileRows}; }
static inline int64_t tile_begin(const RowTiles& tiles, int64_t t) { return tiles.m * t / tiles.count; }
// The tile that holds row r.
static inline int64_t tile_of_row(const RowTiles& tiles, int64_t r) {
  int64_t t = r * tiles.count / tiles.m;
  while (tile_begin(tiles, t + 1) <= r) ++t;
  while (tile_begin(tiles, t) > r) --t;
  return t;
}

// Blocks of 32 that k values fill, the last one perhaps in part.
static inline int64_t activation_blocks(int64_t k) { return (k + kActivationBlock - 1) / kActivationBlock; }

// Byte offsets from the start of a tile.
struct Q8x32Offsets {
  int64_t scales, scaled_sums, minus_8_sums, minus_16_sums, minus_128_sums, minus_32_halves, minus_128_halves,
      scaled_halves, end;
};
static inline Q8x32Offsets q8x32_offsets(int64_t n_rows, int64_t n_blocks) {
  const int64_t cells = n_rows * n_blocks;
  return {.scales = 32 * cells,
          .scaled_sums = 36 * cells,
          .minus_8_sums = 40 * cells,
          .minus_16_sums = 44 * cells,
          .minus_128_sums = 48 * cells,
          .minus_32_halves = 52 * cells,
          .minus_128_halves = 60 * cells,
          .scaled_halves = 68 * cells,
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
  const float* scaled_sums;
  const int32_t* minus_8_sums;
  const int32_t* minus_16_sums;
  const int32_t* minus_128_sums;
  const int32_t* minus_32_halves;
  const int32_t* minus_128_halves;
  const float* scaled_halves;
};
static inline Q8x32Tile q8x32_tile(const std::byte* tile, int64_t n_rows, int64_t n_blocks) {
  const Q8x32Offsets at = q8x32_offsets(n_rows, n_blocks);
  return {.n_rows = n_rows,
          .codes = reinterpret_cast<const int8_t*>(tile),
          .scales = reinterpret_cast<const float*>(tile + at.scales),
          .scaled_sums = reinterpret_cast<const float*>(tile + at.scaled_sums),
          .minus_8_sums = reinterpret_cast<const int32_t*>(tile + at.minus_8_sums),
          .minus_16_sums = reinterpret_cast<const int32_t*>(tile + at.minus_16_sums),
          .minus_128_sums = reinterpret_cast<const int32_t*>(tile + at.minus_128_sums),
          .minus_32_halves = reinterpret_cast<const int32_t*>(tile + at.minus_32_halves),
          .minus_128_halves = reinterpret_cast<const int32_t*>(tile + at.minus_128_halves),
          .scaled_halves = reinterpret_cast<const float*>(tile + at.scaled_halves)};
}

}  // namespace quire::kernels

// Where quantised activation rows lie: tiles of at most kTileRows rows, each in the order kernels read it.
//
// m rows are cut into equal tiles (32 rows: 10, 11, 11), which lie one after the other; rows before a tile
// take row_bytes() each. Inside a tile of T rows with nb blocks of 32 values, arrays follow each other:
//
//   kQ8x32    codes          s8  [nb][T][32]
//             scales         f32 [nb][T]     amax / 127 of the 32 values
//             scaled_sums    f32 [nb][T]     scale * sum of the 32 codes
//             minus_8_sums   s32 [nb][T]     -8 * sum of the 32 codes; likewise minus_16_sums, minus_128_sums
//             half_sums      s32 [nb][2][T]  -128 * sum of each 16 codes
//             scaled_halves  f32 [nb][2][T]  scale * sum of each 16 codes
//   kQ8x256   codes          s8  [nb][T][32]
//             scales         f32 [nb/8][T]     amax / 127 of the 256 values
//             minus_32_sums  s32 [nb][2][T]    -32 * sum of each 16 codes
//             paired_sums    s16 [nb/8][T][8]  sum of each 32 codes, sub-blocks in the order 0 2 1 3 4 6 5 7
//
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

// Place of sub-block j = 0..7 in paired_sums: pairs of int16 meet the minimums of sub-blocks (0,2) (1,3)
// (4,6) (5,7), which is how they come out of the packed 6-bit fields.
static constexpr int kPairedPlace[8] = {0, 2, 1, 3, 4, 6, 5, 7};

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

static inline int64_t activation_blocks(ActivationKind kind, int64_t k) {
  const int64_t unit = kind == ActivationKind::kQ8x256 ? kSuperBlock : kActivationBlock;
  return (k + unit - 1) / unit * unit / kActivationBlock;
}

// Byte offsets from the start of a tile.
struct Q8x32Offsets {
  int64_t scales, scaled_sums, minus_8_sums, minus_16_sums, minus_128_sums, half_sums, scaled_halves, end;
};
static inline Q8x32Offsets q8x32_offsets(int64_t n_rows, int64_t n_blocks) {
  const int64_t cells = n_rows * n_blocks;
  return {.scales = 32 * cells,
          .scaled_sums = 36 * cells,
          .minus_8_sums = 40 * cells,
          .minus_16_sums = 44 * cells,
          .minus_128_sums = 48 * cells,
          .half_sums = 52 * cells,
          .scaled_halves = 60 * cells,
          .end = 68 * cells};
}

struct Q8x256Offsets {
  int64_t scales, minus_32_sums, paired_sums, end;
};
static inline Q8x256Offsets q8x256_offsets(int64_t n_rows, int64_t n_blocks) {
  const int64_t cells = n_rows * n_blocks / 8;
  return {
      .scales = 256 * cells, .minus_32_sums = 260 * cells, .paired_sums = 324 * cells, .end = 340 * cells};
}

// Bytes a row adds to its tile.
static inline int64_t activation_row_bytes(ActivationKind kind, int64_t k) {
  const int64_t n_blocks = activation_blocks(kind, k);
  if (kind == ActivationKind::kQ8x32) return q8x32_offsets(1, n_blocks).end;
  if (kind == ActivationKind::kQ8x256) return q8x256_offsets(1, n_blocks).end;
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
  const int32_t* half_sums;
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
          .half_sums = reinterpret_cast<const int32_t*>(tile + at.half_sums),
          .scaled_halves = reinterpret_cast<const float*>(tile + at.scaled_halves)};
}

struct Q8x256Tile {
  int64_t n_rows;
  const int8_t* codes;
  const float* scales;
  const int32_t* minus_32_sums;
  const int16_t* paired_sums;
};
static inline Q8x256Tile q8x256_tile(const std::byte* tile, int64_t n_rows, int64_t n_blocks) {
  const Q8x256Offsets at = q8x256_offsets(n_rows, n_blocks);
  return {.n_rows = n_rows,
          .codes = reinterpret_cast<const int8_t*>(tile),
          .scales = reinterpret_cast<const float*>(tile + at.scales),
          .minus_32_sums = reinterpret_cast<const int32_t*>(tile + at.minus_32_sums),
          .paired_sums = reinterpret_cast<const int16_t*>(tile + at.paired_sums)};
}

}  // namespace quire::kernels

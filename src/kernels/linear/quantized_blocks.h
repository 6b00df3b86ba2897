// Up to sixteen quantised blocks, a lane for each, and their way into tiles (activation_layout.h). For
// *.kern.cc files.
//
// A block's scale, its sums and what kernels derive from them belong into eight arrays of a tile. Blocks
// whose entries are neighbours there are written with one store per array:
//
//   const QuantizedBlocks blocks = ...;
//   write_blocks(blocks, {.row = tile_row, .block = b, .along = Along::kRows, .n = 12});
//
// Nothing here owns memory; threads may write different blocks of a tile at once.
#pragma once

#include "kernels/linear/activation_layout.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

struct QuantizedBlocks {
  alignas(64) int8_t codes[kLanes * kActivationBlock];
  alignas(64) float scales[kLanes];
  I32 half_sums[2];  // sums of each 16 codes, in their order
};

// Row `row` of a tile of n_rows.
struct TileRow {
  std::byte* tile;
  int64_t n_rows, n_blocks;
  int64_t row;
};

// Blocks taken together: one block of several rows, or several of one row.
enum class Along : uint8_t { kRows, kBlocks };

// Where n of them go: to `row` and the rows after it, or to `block` and the blocks after it.
struct BlockPlaces {
  TileRow row;
  int64_t block;
  Along along;
  int n;
};

// Entries of an array of 4-byte values, `step` apart.
struct Entries {
  int32_t* to;
  int64_t step;
  I32 values;
  int n;
};

// Writes entries of neighbours.
template <int kArrays>
QUIRE_VEC_FN void put_together(const Entries (&arrays)[kArrays]) {
  QUIRE_UNROLL for (int a = 0; a < kArrays; ++a) {
    const Entries& at = arrays[a];
    store_partial(reinterpret_cast<float*>(at.to), f32_from_bits(at.values), at.n);
  }
}

// Writes entries that lie apart, n in each array.
template <int kArrays>
QUIRE_VEC_FN void put_apart(const Entries (&arrays)[kArrays], int n) {
  alignas(64) int32_t values[kArrays][kLanes];
  QUIRE_UNROLL for (int a = 0; a < kArrays; ++a) istore(values[a], arrays[a].values);
  for (int i = 0; i < n; ++i) {
    QUIRE_UNROLL for (int a = 0; a < kArrays; ++a) arrays[a].to[i * arrays[a].step] = values[a][i];
  }
}

// What a sum with this factor starts at, for each lane's sum of codes.
QUIRE_VEC_FN I32 start_of(I32 sum, int32_t factor) {
  return isub(iset1(kSumBiasBits), imul(sum, iset1(factor)));
}

QUIRE_VEC_FN void write_blocks(const QuantizedBlocks& blocks, const BlockPlaces& at) {
  const auto& [tile, n_rows, n_blocks, row] = at.row;
  const int64_t cell = at.block * n_rows + row;
  const int64_t step = at.along == Along::kRows ? 1 : n_rows;
  std::byte* codes = tile + cell * kActivationBlock;
  for (int i = 0; i < at.n; ++i, codes += step * kActivationBlock) {
    __builtin_memcpy(codes, blocks.codes + i * kActivationBlock, kActivationBlock);
  }

  const F32 half_sums[] = {f32_from_bits(blocks.half_sums[0]), f32_from_bits(blocks.half_sums[1])};
  I32 first = bits_of(even_lanes(half_sums[0], half_sums[1]));
  I32 second = bits_of(odd_lanes(half_sums[0], half_sums[1]));
  const I32 sum = iadd(first, second);
  int64_t first_at = 2 * at.block * n_rows + row, second_at = first_at + n_rows;
  int n_first = at.n, n_second = at.n;
  const int64_t half_step = at.along == Along::kRows ? 1 : 2 * n_rows;
  if (at.along == Along::kBlocks && n_rows == 1) {  // a tile's only row: halves are neighbours, too
    first = blocks.half_sums[0];
    second = blocks.half_sums[1];
    second_at = first_at + kLanes;
    n_first = 2 * at.n;
    n_second = 2 * at.n - kLanes;
  }

  const auto array = [tile](int64_t offset) { return reinterpret_cast<int32_t*>(tile + offset); };
  const auto each = [&](int64_t offset, I32 values) QUIRE_INLINE_LAMBDA {
    return Entries{array(offset) + cell, step, values, at.n};
  };
  const auto firsts = [&](int64_t offset, I32 values) QUIRE_INLINE_LAMBDA {
    return Entries{array(offset) + first_at, half_step, values, n_first};
  };
  const auto seconds = [&](int64_t offset, I32 values) QUIRE_INLINE_LAMBDA {
    return Entries{array(offset) + second_at, half_step, values, n_second};
  };
  const Q8x32Offsets offsets = q8x32_offsets(n_rows, n_blocks);
  const Entries arrays[] = {
      each(offsets.scales, bits_of(load(blocks.scales))),
      each(offsets.sums, bits_of(to_f32(sum))),
      each(offsets.start_8, start_of(sum, 8)),
      each(offsets.start_16, start_of(sum, 16)),
      each(offsets.start_128, start_of(sum, 128)),
      firsts(offsets.half_sums, bits_of(to_f32(first))),
      seconds(offsets.half_sums, bits_of(to_f32(second))),
      firsts(offsets.start_32_halves, start_of(first, 32)),
      seconds(offsets.start_32_halves, start_of(second, 32)),
      firsts(offsets.start_128_halves, start_of(first, 128)),
      seconds(offsets.start_128_halves, start_of(second, 128)),
  };
  if (step == 1) return put_together(arrays);
  put_apart(arrays, at.n);
}

}  // namespace quire::kernels::QUIRE_ISA

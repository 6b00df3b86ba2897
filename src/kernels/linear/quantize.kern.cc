// Activation rows to int8 tiles (activation_layout.h): scale = amax / 127, code = round half even of x * (127
// / amax).
//
// With two planes, what the codes leave over (x - scale * code) is quantised again into a second row; the sum
// of both rows' outputs then carries about 15 bits of x.
//
// A row is treated by itself. Blocks whose amax is below 2^-100 become zeros with scale 0, so that 127 / amax
// stays finite; a block with an infinity or NaN gets codes 0 and scale NaN, which the outputs of that row
// then are.

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

constexpr float kSmallestAmax = 0x1p-100f;

// What all values of one scale share.
struct BlockScale {
  float scale;    // of the codes
  float inverse;  // x to code; 0 gives codes 0
};

QUIRE_VEC_FN F32 load_up_to(const float* x, int64_t n) {
  return n >= kLanes ? load(x) : load_partial(x, n > 0 ? static_cast<int>(n) : 0);
}

// Largest magnitude as bits: for finite values their order is that of the floats; infinities and NaNs lie
// above.
QUIRE_VEC_FN I32 magnitude_bits(F32 x) { return iand(bits_of(x), iset1(0x7fffffff)); }

// Of a block whose lanewise largest magnitudes are given.
QUIRE_VEC_FN BlockScale block_scale(I32 largest) {
  if (any(icmp_gt(largest, iset1(0x7f7fffff)))) return {__builtin_nanf(""), 0.0f};
  const float amax = reduce_max(f32_from_bits(largest));
  if (amax < kSmallestAmax) return {0.0f, 0.0f};
  return {amax / 127.0f, 127.0f / amax};
}

// Codes of 16 values, stored at `codes`.
QUIRE_VEC_FN I32 store_codes(F32 x, BlockScale block, int8_t* codes) {
  I32 code = izero();
  if (block.inverse != 0.0f) code = round_to_i32(mul(x, set1(block.inverse)));
  store_i8x16(codes, code);
  return code;
}

template <typename T>
T* array_at(std::byte* tile, int64_t offset) {
  return reinterpret_cast<T*>(tile + offset);
}

// 32 values of a row.
struct Block32 {
  F32 low, high;
};

// Where one row's blocks go: row m of a tile of `rows` rows.
class TileRow {
 public:
  TileRow(std::byte* tile, int64_t rows, int64_t m, int64_t n_blocks)
      : tile_(tile), at_(q8x32_offsets(rows, n_blocks)), rows_(rows), m_(m) {}

  // Quantises block b and returns what its codes leave over: x - scale * code, rounded once per value.
  QUIRE_VEC_MEMBER Block32 write(int64_t b, Block32 x) const {
    const BlockScale block = block_scale(imax(magnitude_bits(x.low), magnitude_bits(x.high)));
    const int64_t cell = b * rows_ + m_;
    auto* codes = array_at<int8_t>(tile_, 0) + cell * kActivationBlock;
    const I32 low = store_codes(x.low, block, codes);
    const I32 high = store_codes(x.high, block, codes + kLanes);
    const int32_t sum0 = ireduce_add(low);
    const int32_t sum1 = ireduce_add(high);
    array_at<float>(tile_, at_.scales)[cell] = block.scale;
    array_at<float>(tile_, at_.sums)[cell] = static_cast<float>(sum0 + sum1);
    array_at<int32_t>(tile_, at_.start_8)[cell] = kSumBiasBits - 8 * (sum0 + sum1);
    array_at<int32_t>(tile_, at_.start_16)[cell] = kSumBiasBits - 16 * (sum0 + sum1);
    array_at<int32_t>(tile_, at_.start_128)[cell] = kSumBiasBits - 128 * (sum0 + sum1);
    const int64_t half_cell = 2 * b * rows_ + m_;
    write_half(half_cell, sum0);
    write_half(half_cell + rows_, sum1);
    const F32 scale = set1(block.scale);
    return {neg_mul_add(to_f32(low), scale, x.low), neg_mul_add(to_f32(high), scale, x.high)};
  }

 private:
  QUIRE_VEC_MEMBER void write_half(int64_t cell, int32_t sum) const {
    array_at<float>(tile_, at_.half_sums)[cell] = static_cast<float>(sum);
    array_at<int32_t>(tile_, at_.start_32_halves)[cell] = kSumBiasBits - 32 * sum;
    array_at<int32_t>(tile_, at_.start_128_halves)[cell] = kSumBiasBits - 128 * sum;
  }

  std::byte* tile_;
  Q8x32Offsets at_;
  int64_t rows_, m_;
};

// Finds the tiles of rows that are asked for in ascending order.
class TileCursor {
 public:
  TileCursor(const QuantizeArgs& args, const RowTiles& tiles) : args_(args), tiles_(tiles) {}

  TileRow at(int64_t row) {
    if (row >= end_) {
      const int64_t t = tile_of_row(tiles_, row);
      begin_ = tile_begin(tiles_, t);
      end_ = tile_begin(tiles_, t + 1);
    }
    return {args_.out + begin_ * activation_row_bytes(ActivationKind::kQ8x32, args_.k), end_ - begin_,
            row - begin_, activation_blocks(args_.k)};
  }

 private:
  const QuantizeArgs& args_;
  RowTiles tiles_;
  int64_t begin_ = 0, end_ = 0;
};

}  // namespace

void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end) {
  const bool two_planes = args.planes == ActivationPlanes::kTwo;
  const RowTiles tiles = row_tiles(two_planes ? 2 * args.m : args.m);
  TileCursor first_plane(args, tiles), second_plane(args, tiles);
  const int64_t n = args.n_columns > 0 ? args.n_columns : args.k;
  for (int64_t r = row_begin; r < row_end; ++r) {
    const TileRow first = first_plane.at(r);
    const TileRow second = two_planes ? second_plane.at(args.m + r) : first;
    const float* x = args.x + r * args.ld_x;
    for (int64_t at = 0, b = args.block_begin; at < n; at += kActivationBlock, ++b) {
      const Block32 values = {load_up_to(x + at, n - at), load_up_to(x + at + kLanes, n - at - kLanes)};
      const Block32 left_over = first.write(b, values);
      if (two_planes) second.write(b, left_over);
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA

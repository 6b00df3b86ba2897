// Activation rows to int8 tiles (activation_layout.h): scale = amax / 127, code = round half even of x * (127
// / amax).
//
// With two planes, what the codes leave over (x - scale * code) is quantised again into a second row; the sum
// of both rows' outputs then carries about 15 bits of x.
//
// A row is treated by itself. Blocks whose amax is below 2^-100 become zeros with scale 0, so that 127 / amax
// stays finite; a block with an infinity or NaN gets codes 0 and scale NaN, which the outputs of that row
// then are.
//
// Up to sixteen blocks are taken together, so that reductions and stores serve all of them.

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/quantized_blocks.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

constexpr float kSmallestAmax = 0x1p-100f;

// Fewer rows of a tile than this go one after the other, with more lanes in use.
constexpr int64_t kFewRows = 7;

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// The lanes of a and b in order, neighbours combined.
template <typename Combine>
QUIRE_VEC_FN I32 halve(I32 a, I32 b, const Combine& combine) {
  const F32 first = f32_from_bits(a), second = f32_from_bits(b);
  return combine(bits_of(even_lanes(first, second)), bits_of(odd_lanes(first, second)));
}

// Halves the vectors until kLeft of them are left.
template <int kLeft, int kCount, typename Combine>
QUIRE_VEC_FN void halve_until(I32 (&v)[kCount], const Combine& combine) {
  QUIRE_UNROLL for (int half = kCount / 2; half >= kLeft; half /= 2) {
    QUIRE_UNROLL for (int i = 0; i < half; ++i) v[i] = halve(v[2 * i], v[2 * i + 1], combine);
  }
}

// Sixteen blocks of 32 values.
struct Blocks {
  F32 low[kLanes], high[kLanes];
};

// Largest magnitude as bits: for finite values their order is that of the floats; infinities and NaNs lie
// above.
QUIRE_VEC_FN I32 magnitude_bits(F32 x) { return iand(bits_of(x), iset1(0x7fffffff)); }

QUIRE_VEC_FN I32 largest_magnitudes(const Blocks& x) {
  I32 v[kLanes];
  QUIRE_UNROLL for (int i = 0; i < kLanes; ++i) {
    v[i] = imax(magnitude_bits(x.low[i]), magnitude_bits(x.high[i]));
  }
  halve_until<1>(v, [](I32 a, I32 b) QUIRE_INLINE_LAMBDA { return imax(a, b); });
  return v[0];
}

// The first n blocks; of the others the result holds anything.
QUIRE_VEC_FN void quantize(const Blocks& x, int n, QuantizedBlocks& result) {
  const I32 largest = largest_magnitudes(x);
  const F32 amax = f32_from_bits(largest);
  const Mask not_finite = icmp_gt(largest, iset1(0x7f7fffff));
  const Mask no_codes = mask_or(not_finite, cmp_lt(amax, set1(kSmallestAmax)));
  const F32 no_scale = select(not_finite, set1(__builtin_nanf("")), zero());
  store(result.scales, select(no_codes, no_scale, div(amax, set1(127.0f))));
  alignas(64) float inverses[kLanes];
  store(inverses, select(no_codes, zero(), div(set1(127.0f), amax)));

  for (int i = 0; i < n; ++i) {
    I32 low = izero(), high = izero();
    if (inverses[i] != 0.0f) {
      low = round_to_i32(mul(x.low[i], set1(inverses[i])));
      high = round_to_i32(mul(x.high[i], set1(inverses[i])));
    }
    int8_t* codes = result.codes + i * kActivationBlock;
    store_i8x16(codes, low);
    store_i8x16(codes + kLanes, high);
  }

  I32 sums[kLanes / 2];  // of four codes a lane, then of eight, then of sixteen
  QUIRE_UNROLL for (int i = 0; i < kLanes / 2; ++i) {
    sums[i] = dot_u7s8(izero(), bset1(1), as_i32(bload(result.codes + 64 * i)));
  }
  halve_until<2>(sums, [](I32 a, I32 b) QUIRE_INLINE_LAMBDA { return iadd(a, b); });
  result.half_sums[0] = sums[0];
  result.half_sums[1] = sums[1];
}

// What the codes of the first n blocks leave over: x - scale * code, rounded once per value.
QUIRE_VEC_FN void subtract(const QuantizedBlocks& blocks, int n, Blocks& x) {
  for (int i = 0; i < n; ++i) {
    const F32 scale = set1(blocks.scales[i]);
    const int8_t* codes = blocks.codes + i * kActivationBlock;
    x.low[i] = neg_mul_add(to_f32(load_i8x16(codes)), scale, x.low[i]);
    x.high[i] = neg_mul_add(to_f32(load_i8x16(codes + kLanes)), scale, x.high[i]);
  }
}

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
    return {.tile = args_.out + begin_ * activation_row_bytes(ActivationKind::kQ8x32, args_.k),
            .n_rows = end_ - begin_,
            .n_blocks = activation_blocks(args_.k),
            .row = row - begin_};
  }

 private:
  const QuantizeArgs& args_;
  RowTiles tiles_;
  int64_t begin_ = 0, end_ = 0;
};

int64_t rows_left(const TileRow& at) { return at.n_rows - at.row; }

QUIRE_VEC_FN F32 load_up_to(const float* x, int64_t n) {
  return n >= kLanes ? load(x) : load_partial(x, n > 0 ? static_cast<int>(n) : 0);
}

}  // namespace

void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end) {
  const bool two_planes = args.planes == ActivationPlanes::kTwo;
  const RowTiles tiles = row_tiles(two_planes ? 2 * args.m : args.m);
  TileCursor first_plane(args, tiles), second_plane(args, tiles);
  const int64_t n = args.n_columns > 0 ? args.n_columns : args.k;
  Blocks x = {};
  QuantizedBlocks quantized = {};
  for (int64_t r = row_begin, rows; r < row_end; r += rows) {
    const TileRow first = first_plane.at(r);
    const TileRow second = two_planes ? second_plane.at(args.m + r) : first;
    rows = least(row_end - r, least(rows_left(first), rows_left(second)));
    const Along along = rows < kFewRows ? Along::kBlocks : Along::kRows;
    if (along == Along::kBlocks) rows = 1;

    int64_t columns = 0;
    for (int64_t column = 0; column < n; column += columns) {
      columns = along == Along::kRows ? kActivationBlock : least(kLanes * kActivationBlock, n - column);
      const int64_t n_blocks = along == Along::kRows ? rows : activation_blocks(columns);
      for (int64_t i = 0; i < n_blocks; ++i) {
        const int64_t from = along == Along::kRows ? column : column + i * kActivationBlock;
        const float* values = args.x + (along == Along::kRows ? r + i : r) * args.ld_x + from;
        x.low[i] = load_up_to(values, n - from);
        x.high[i] = load_up_to(values + kLanes, n - from - kLanes);
      }
      BlockPlaces to = {.row = first,
                        .block = args.block_begin + column / kActivationBlock,
                        .along = along,
                        .n = static_cast<int>(n_blocks)};
      quantize(x, to.n, quantized);
      write_blocks(quantized, to);
      if (!two_planes) continue;
      subtract(quantized, to.n, x);
      to.row = second;
      quantize(x, to.n, quantized);
      write_blocks(quantized, to);
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA

// Activation rows to int8 tiles (activation_layout.h): scale = amax / 127, code = round half even of x * (127
// / amax).
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

// Row m of a tile of `rows` rows.
void quantize_row_q8x32(const float* x, int64_t k, std::byte* tile, int64_t rows, int64_t m) {
  const int64_t n_blocks = activation_blocks(ActivationKind::kQ8x32, k);
  const Q8x32Offsets at = q8x32_offsets(rows, n_blocks);
  auto* codes = array_at<int8_t>(tile, 0);
  auto* scales = array_at<float>(tile, at.scales);
  auto* scaled_sums = array_at<float>(tile, at.scaled_sums);
  auto* minus_8_sums = array_at<int32_t>(tile, at.minus_8_sums);
  auto* minus_16_sums = array_at<int32_t>(tile, at.minus_16_sums);
  auto* minus_128_sums = array_at<int32_t>(tile, at.minus_128_sums);
  auto* half_sums = array_at<int32_t>(tile, at.half_sums);
  auto* scaled_halves = array_at<float>(tile, at.scaled_halves);
  for (int64_t b = 0; b < n_blocks; ++b) {
    const int64_t first = b * kActivationBlock;
    const F32 x0 = load_up_to(x + first, k - first);
    const F32 x1 = load_up_to(x + first + kLanes, k - first - kLanes);
    const BlockScale block = block_scale(imax(magnitude_bits(x0), magnitude_bits(x1)));
    const int64_t cell = b * rows + m;
    const int32_t sum0 = ireduce_add(store_codes(x0, block, codes + cell * kActivationBlock));
    const int32_t sum1 = ireduce_add(store_codes(x1, block, codes + cell * kActivationBlock + kLanes));
    scales[cell] = block.scale;
    scaled_sums[cell] = block.scale * static_cast<float>(sum0 + sum1);
    minus_8_sums[cell] = -8 * (sum0 + sum1);
    minus_16_sums[cell] = -16 * (sum0 + sum1);
    minus_128_sums[cell] = -128 * (sum0 + sum1);
    const int64_t half_cell = 2 * b * rows + m;
    half_sums[half_cell] = -128 * sum0;
    half_sums[half_cell + rows] = -128 * sum1;
    scaled_halves[half_cell] = block.scale * static_cast<float>(sum0);
    scaled_halves[half_cell + rows] = block.scale * static_cast<float>(sum1);
  }
}

void quantize_row_q8x256(const float* x, int64_t k, std::byte* tile, int64_t rows, int64_t m) {
  const int64_t n_blocks = activation_blocks(ActivationKind::kQ8x256, k);
  const Q8x256Offsets at = q8x256_offsets(rows, n_blocks);
  auto* codes = array_at<int8_t>(tile, 0);
  auto* scales = array_at<float>(tile, at.scales);
  auto* minus_32_sums = array_at<int32_t>(tile, at.minus_32_sums);
  auto* paired_sums = array_at<int16_t>(tile, at.paired_sums);
  for (int64_t first = 0; first < k; first += kSuperBlock) {
    I32 largest = izero();
    for (int64_t i = 0; i < kSuperBlock; i += kLanes) {
      largest = imax(largest, magnitude_bits(load_up_to(x + first + i, k - first - i)));
    }
    const BlockScale block = block_scale(largest);
    const int64_t super_cell = first / kSuperBlock * rows + m;
    scales[super_cell] = block.scale;
    for (int j = 0; j < 8; ++j) {
      const int64_t b = first / kActivationBlock + j;
      const int64_t at_k = b * kActivationBlock;
      int8_t* out = codes + (b * rows + m) * kActivationBlock;
      const int32_t sum0 = ireduce_add(store_codes(load_up_to(x + at_k, k - at_k), block, out));
      const int32_t sum1 =
          ireduce_add(store_codes(load_up_to(x + at_k + kLanes, k - at_k - kLanes), block, out + kLanes));
      minus_32_sums[2 * b * rows + m] = -32 * sum0;
      minus_32_sums[(2 * b + 1) * rows + m] = -32 * sum1;
      paired_sums[super_cell * 8 + kPairedPlace[j]] = static_cast<int16_t>(sum0 + sum1);
    }
  }
}

}  // namespace

void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end) {
  const RowTiles tiles = row_tiles(args.m);
  const int64_t row_bytes = activation_row_bytes(args.kind, args.k);
  for (int64_t r = row_begin; r < row_end; ++r) {
    const int64_t t = tile_of_row(tiles, r);
    const int64_t first = tile_begin(tiles, t);
    const int64_t rows = tile_begin(tiles, t + 1) - first;
    std::byte* tile = args.out + first * row_bytes;
    const float* x = args.x + r * args.ld_x;
    if (args.kind == ActivationKind::kQ8x32) {
      quantize_row_q8x32(x, args.k, tile, rows, r - first);
    } else {
      quantize_row_q8x256(x, args.k, tile, rows, r - first);
    }
  }
}

}  // namespace quire::kernels::QUIRE_ISA

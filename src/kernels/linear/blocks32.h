// Kernel template of the types with blocks of 32 values, activations kQ8x32. For *.kern.cc files.
//
// Per block ascending, per output: acc = fma(f32(isum), d * a_scale, acc), and for types with a minimum then
// acc = fma(m, a_scaled_sum, acc). isum is the exact integer dot product of the block.
//
// A Format has
//   static constexpr BlockLayout kLayout;
//   static constexpr int kOffset;                 codes are stored plus 0, 8, 16 or 128
//   static constexpr bool kHasMinimum;
//   static F32 scale(const std::byte* header);    16 scales
//   using Body: Body(const std::byte* slices); template <int kStep> B64 codes() const;
//   static I32 dot(I32 sum, B64 codes, const int8_t* activations);
#pragma once

#include "kernels/linear/walk.h"

namespace quire::kernels::QUIRE_ISA {

// sum[m] += codes of the block's steps kStep .. 7 times the activations of row m.
template <typename Format, int kRows, int kStep = 0>
QUIRE_VEC_FN void add_steps(I32 (&sum)[kRows], const typename Format::Body& body, const int8_t* activations) {
  const B64 codes = body.template codes<kStep>();
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
    sum[m] = Format::dot(sum[m], codes, activations + m * kActivationBlock + 4 * kStep);
  }
  if constexpr (kStep + 1 < 8) add_steps<Format, kRows, kStep + 1>(sum, body, activations);
}

QUIRE_VEC_FN Q8x32Tile q8x32_tile_of(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
  return q8x32_tile(args.activations + first_row * activation_row_bytes(ActivationKind::kQ8x32, args.k),
                    n_rows, activation_blocks(args.k));
}

// -kOffset times the sums of activation codes, which isum starts at: [n_blocks][tile rows].
template <int kOffset>
QUIRE_VEC_FN const int32_t* offset_sums(const Q8x32Tile& tile) {
  static_assert(kOffset == 0 || kOffset == 8 || kOffset == 16 || kOffset == 128);
  if constexpr (kOffset == 16) return tile.minus_16_sums;
  if constexpr (kOffset == 128) return tile.minus_128_sums;
  return tile.minus_8_sums;
}

template <typename Format>
struct Blocks32Kernel {
  using Tile = Q8x32Tile;

  static int64_t group_bytes(int64_t k) { return packed_bytes(Format::kLayout, activation_blocks(k)); }

  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x32_tile_of(args, first_row, n_rows);
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    constexpr BlockLayout kLayout = Format::kLayout;
    const int64_t n_blocks = activation_blocks(call.k);
    const int8_t* activations = tile.codes + row * kActivationBlock;
    const float* scales = tile.scales + row;
    const float* scaled_sums = tile.scaled_sums + row;
    const int32_t* start = offset_sums<Format::kOffset>(tile) + row;
    const std::byte* weights = call.weights;
    const int64_t ahead = call.ahead;

    F32 acc[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
    for (int64_t b = 0; b < n_blocks; b += kLayout.blocks_per_header) {
      const std::byte* header = weights;
      prefetch_ahead<kLayout.header_bytes>(header, ahead);
      weights += kLayout.header_bytes;
      const int64_t end = b + kLayout.blocks_per_header < n_blocks ? b + kLayout.blocks_per_header : n_blocks;
      QUIRE_NO_UNROLL for (int64_t i = b; i < end; ++i) {
        prefetch_ahead<kLayout.block_bytes>(weights, ahead);
        const typename Format::Body body(weights);
        I32 sum[kRows];
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
          sum[m] = Format::kOffset != 0 ? iset1(start[m]) : izero();
        }
        add_steps<Format, kRows>(sum, body, activations);
        const F32 d = Format::scale(header + 32 * (i - b));
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
          acc[m] = mul_add(to_f32(sum[m]), mul(d, set1(scales[m])), acc[m]);
        }
        if constexpr (Format::kHasMinimum) {
          const F32 minimum = load_f16(reinterpret_cast<const uint16_t*>(header + 32));
          QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] =
              mul_add(minimum, set1(scaled_sums[m]), acc[m]);
        }
        weights += kLayout.block_bytes;
        activations += tile.n_rows * kActivationBlock;
        scales += tile.n_rows;
        scaled_sums += tile.n_rows;
        start += tile.n_rows;
      }
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc[m]);
  }
};

// ---- What the formats are made of

QUIRE_VEC_FN F32 f16_scale(const std::byte* header) {
  return load_f16(reinterpret_cast<const uint16_t*>(header));
}

// 4 slices of nibbles: slice v, low = step v, high = step v + 4.
struct NibbleBody {
  const std::byte* slices;
  explicit NibbleBody(const std::byte* at) : slices(at) {}
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const B64 pair = bload(slices + kStep % 4 * kSliceBytes);
    return band(kStep < 4 ? pair : bshift_right16<4>(pair), bset1(0x0f));
  }
};

// 1 slice of fifth bits (bit s = step s), 4 slices of nibbles.
struct FiveBitBody {
  NibbleBody nibbles;
  B64 fifth_bits;
  explicit FiveBitBody(const std::byte* at) : nibbles(at + kSliceBytes), fifth_bits(bload(at)) {}
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    B64 moved = fifth_bits;
    if constexpr (kStep < 4) moved = bshift_left16<4 - kStep>(fifth_bits);
    if constexpr (kStep > 4) moved = bshift_right16<kStep - 4>(fifth_bits);
    return bor(nibbles.codes<kStep>(), band(moved, bset1(0x10)));
  }
};

// 8 slices, slice s = step s.
struct ByteBody {
  const std::byte* slices;
  explicit ByteBody(const std::byte* at) : slices(at) {}
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return bload(slices + kStep * kSliceBytes);
  }
};

}  // namespace quire::kernels::QUIRE_ISA

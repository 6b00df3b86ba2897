// Kernel template of Q4_K and Q5_K, which differ in the fifth bits only. For *.kern.cc files.
//
// Per sub-block of 32 ascending, per output: acc = fma(f32(isum), d * scale * a_scale, acc), then
// acc = fma(-dmin * minimum, a_scale * sum of activation codes, acc); d * scale and dmin * minimum are exact.
#pragma once

#include "kernels/linear/k_quants.h"

namespace quire::kernels::QUIRE_ISA {

enum class CodeBits { kFour, kFive };

// The scales and minimums of the eight sub-blocks of every row, d and dmin multiplied in (17 bits, exact),
// taken apart from the three slices that hold the 6-bit fields.
struct SubBlockScales {
  alignas(64) float scales[8][kLanes];
  alignas(64) float minimums[8][kLanes];

  QUIRE_VEC_MEMBER explicit SubBlockScales(const std::byte* header) {
    const F32 d = load_f16(reinterpret_cast<const uint16_t*>(header));
    const F32 dmin = load_f16(reinterpret_cast<const uint16_t*>(header + 32));
    const std::byte* slices = header + 64;
    const B64 first = bload(slices);                 // byte j: scale j, top two bits of scale j + 4
    const B64 second = bload(slices + kSliceBytes);  // byte j: minimum j, top two bits of minimum j + 4
    const B64 third =
        bload(slices + 2 * kSliceBytes);  // byte j: low nibbles of scale j + 4 and minimum j + 4
    const B64 six = bset1(0x3f), low = bset1(0x0f), high = bset1(0x30);
    unpack(scales, d, as_i32(band(first, six)));
    unpack(scales + 4, d, as_i32(bor(band(third, low), band(bshift_right16<2>(first), high))));
    unpack(minimums, dmin, as_i32(band(second, six)));
    unpack(minimums + 4, dmin,
           as_i32(bor(band(bshift_right16<4>(third), low), band(bshift_right16<2>(second), high))));
  }

 private:
  QUIRE_VEC_MEMBER static void unpack(float (*out)[kLanes], F32 unit, I32 bytes) {
    const I32 byte = iset1(0xff);
    store(out[0], mul(to_f32(iand(bytes, byte)), unit));
    store(out[1], mul(to_f32(iand(shift_right_logical<8>(bytes), byte)), unit));
    store(out[2], mul(to_f32(iand(shift_right_logical<16>(bytes), byte)), unit));
    store(out[3], mul(to_f32(shift_right_logical<24>(bytes)), unit));
  }
};

template <CodeBits kBits>
struct Q45KKernel {
  using Tile = Q8x32Tile;
  static constexpr BlockLayout kLayout = kBits == CodeBits::kFour ? kQ4_KLayout : kQ5_KLayout;

  static int64_t group_bytes(int64_t k) { return packed_bytes(kLayout, k / kSuperBlock); }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x32_tile_of(args, first_row, n_rows);
  }

  // Steps kStep .. 7 of one of the two sub-blocks that share 8 slices of nibbles.
  template <int kRows, int kHalf, int kStep = 0>
  QUIRE_VEC_FN void add_steps(I32 (&sum)[kRows], const std::byte* nibbles, B64 fifth_bits,
                              const int8_t* activations) {
    const B64 pair = bload(nibbles + kStep * kSliceBytes);
    B64 codes = band(kHalf == 0 ? pair : bshift_right16<4>(pair), bset1(0x0f));
    if constexpr (kBits == CodeBits::kFive) {
      B64 moved = fifth_bits;
      if constexpr (kStep < 4) moved = bshift_left16<4 - kStep>(fifth_bits);
      if constexpr (kStep > 4) moved = bshift_right16<kStep - 4>(fifth_bits);
      codes = bor(codes, band(moved, bset1(0x10)));
    }
    add_step<kRows>(sum, codes, activations, kStep);
    if constexpr (kStep + 1 < 8) add_steps<kRows, kHalf, kStep + 1>(sum, nibbles, fifth_bits, activations);
  }

  // The sums of one row position of a tile over the blocks of a group.
  template <int kRows>
  struct Sums {
    F32 acc[kRows];
    const int8_t* activations;
    const float* a_scales;
    const float* scaled_sums;
    int64_t tile_rows;

    QUIRE_VEC_MEMBER Sums(const Tile& tile, int64_t row)
        : activations(tile.codes + row * kActivationBlock),
          a_scales(tile.scales + row),
          scaled_sums(tile.scaled_sums + row),
          tile_rows(tile.n_rows) {
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
    }

    // Sub-block 2i + kHalf, whose codes are in `slices`; on to the next block of activations.
    template <int kHalf>
    QUIRE_VEC_MEMBER void add_sub_block(const float* scale, const float* minimum, const std::byte* slices) {
      constexpr bool kFive = kBits == CodeBits::kFive;
      const std::byte* nibbles = slices + (kFive ? 2 * kSliceBytes : 0);
      const B64 fifth_bits = kFive ? bload(slices + kHalf * kSliceBytes) : bset1(0);
      I32 sum[kRows];
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sum[m] = izero();
      add_steps<kRows, kHalf>(sum, nibbles, fifth_bits, activations);
      add_scaled<kRows>(acc, sum, load(scale), a_scales);
      const F32 low = load(minimum);
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = neg_mul_add(low, set1(scaled_sums[m]), acc[m]);
      activations += tile_rows * kActivationBlock;
      a_scales += tile_rows;
      scaled_sums += tile_rows;
    }
  };

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    constexpr int kPairBytes = kLayout.block_bytes / 4;
    const std::byte* weights = call.weights;
    const int64_t ahead = call.ahead;
    Sums<kRows> sums(tile, row);
    for (int64_t k = 0; k < call.k; k += kSuperBlock) {
      prefetch_ahead<kLayout.header_bytes>(weights, ahead);
      const SubBlockScales sub_blocks(weights);
      weights += kLayout.header_bytes;
      QUIRE_NO_UNROLL for (int i = 0; i < 4; ++i) {
        prefetch_ahead<kPairBytes>(weights, ahead);
        sums.template add_sub_block<0>(sub_blocks.scales[2 * i], sub_blocks.minimums[2 * i], weights);
        end_of_block();
        sums.template add_sub_block<1>(sub_blocks.scales[2 * i + 1], sub_blocks.minimums[2 * i + 1], weights);
        weights += kPairBytes;
      }
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, sums.acc[m]);
  }
};

}  // namespace quire::kernels::QUIRE_ISA

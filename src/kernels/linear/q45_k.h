// Kernel template of Q4_K and Q5_K, which differ in the fifth bits only. For *.kern.cc files.
#pragma once

#include "kernels/linear/k_quants.h"

namespace quire::kernels::QUIRE_ISA {

enum class CodeBits { kFour, kFive };

// The eight 6-bit scales of every row in f32, and the minimums as pairs of int16 in the order of
// activation_layout.h, taken apart from the three slices that hold them.
struct SubBlockScales {
  alignas(64) float scales[8][kLanes];
  alignas(64) std::byte minimum_pairs[4][kSliceBytes];

  QUIRE_VEC_MEMBER explicit SubBlockScales(const std::byte* slices) {
    const B64 first = bload(slices);                 // byte j: scale j, top two bits of scale j + 4
    const B64 second = bload(slices + kSliceBytes);  // byte j: minimum j, top two bits of minimum j + 4
    const B64 third =
        bload(slices + 2 * kSliceBytes);  // byte j: low nibbles of scale j + 4 and minimum j + 4
    const B64 six = bset1(0x3f), low = bset1(0x0f), high = bset1(0x30);
    unpack_scales(0, as_i32(band(first, six)));
    unpack_scales(4, as_i32(bor(band(third, low), band(bshift_right16<2>(first), high))));
    unpack_minimums(0, as_i32(band(second, six)));
    unpack_minimums(2,
                    as_i32(bor(band(bshift_right16<4>(third), low), band(bshift_right16<2>(second), high))));
  }

 private:
  QUIRE_VEC_MEMBER void unpack_scales(int j, I32 bytes) {
    const I32 byte = iset1(0xff);
    store(scales[j], to_f32(iand(bytes, byte)));
    store(scales[j + 1], to_f32(iand(shift_right_logical<8>(bytes), byte)));
    store(scales[j + 2], to_f32(iand(shift_right_logical<16>(bytes), byte)));
    store(scales[j + 3], to_f32(shift_right_logical<24>(bytes)));
  }
  QUIRE_VEC_MEMBER void unpack_minimums(int pair, I32 bytes) {
    const I32 even = iset1(0x00ff00ff);
    bstore(minimum_pairs[pair], as_bytes(iand(bytes, even)));
    bstore(minimum_pairs[pair + 1], as_bytes(iand(shift_right_logical<8>(bytes), even)));
  }
};

template <CodeBits kBits>
struct Q45KKernel {
  using Tile = Q8x256Tile;
  static constexpr BlockLayout kLayout = kBits == CodeBits::kFour ? kQ4_KLayout : kQ5_KLayout;

  static int64_t group_bytes(int64_t k) { return packed_bytes(kLayout, k / kSuperBlock); }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x256_tile_of(args, first_row, n_rows);
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

  // total[m] += dot product of sub-block 2i + kHalf * scale.
  template <int kRows, int kHalf>
  QUIRE_VEC_FN void add_sub_block(F32 (&total)[kRows], const float* scale, const std::byte* slices,
                                  const int8_t* activations) {
    constexpr bool kFive = kBits == CodeBits::kFive;
    const std::byte* nibbles = slices + (kFive ? 2 * kSliceBytes : 0);
    const B64 fifth_bits = kFive ? bload(slices + kHalf * kSliceBytes) : bset1(0);
    I32 sum[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sum[m] = izero();
    add_steps<kRows, kHalf>(sum, nibbles, fifth_bits, activations);
    const F32 scales = load(scale);
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) total[m] = mul_add(to_f32(sum[m]), scales, total[m]);
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    constexpr int kPairBytes = kLayout.block_bytes / 4;
    const int8_t* activations = tile.codes + row * kActivationBlock;
    const int64_t next_block = tile.n_rows * kActivationBlock;
    const float* a_scales = tile.scales + row;
    const int16_t* paired_sums = tile.paired_sums + row * 8;
    const std::byte* weights = call.weights;
    const int64_t ahead = call.ahead;

    Accumulators<kRows> acc(call.scratch);
    for (int64_t k = 0; k < call.k; k += kSuperBlock) {
      const std::byte* header = weights;
      prefetch_ahead<kLayout.header_bytes>(header, ahead);
      const SubBlockScales sub_blocks(header + 64);
      weights += kLayout.header_bytes;
      F32 total[kRows];
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) total[m] = zero();
      QUIRE_NO_UNROLL for (int i = 0; i < 4; ++i) {
        prefetch_ahead<kPairBytes>(weights, ahead);
        add_sub_block<kRows, 0>(total, sub_blocks.scales[2 * i], weights, activations);
        end_of_block();
        activations += next_block;
        add_sub_block<kRows, 1>(total, sub_blocks.scales[2 * i + 1], weights, activations);
        activations += next_block;
        weights += kPairBytes;
      }
      const F32 d = load_f16(reinterpret_cast<const uint16_t*>(header));
      const F32 dmin = load_f16(reinterpret_cast<const uint16_t*>(header + 32));
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        I32 msum = izero();
        QUIRE_UNROLL for (int p = 0; p < 4; ++p) {
          msum = dot_s16s16_pair(msum, bload(sub_blocks.minimum_pairs[p]), paired_sums + m * 8 + 2 * p);
        }
        const F32 t = neg_mul_add(to_f32(msum), dmin, mul(total[m], d));
        acc.set(m, mul_add(t, set1(a_scales[m]), acc.get(m)));
      }
      a_scales += tile.n_rows;
      paired_sums += tile.n_rows * 8;
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc.get(m));
  }
};

}  // namespace quire::kernels::QUIRE_ISA

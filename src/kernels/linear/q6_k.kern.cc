// Q6_K: 6-bit codes around 32 with an int8 scale per 16 values.
//
// Per 16 values ascending, per output: acc = fma(f32(isum), d * scale * a_scale, acc); d * scale is exact.

#include "kernels/linear/k_quants.h"
#include "kernels/linear/kernel_functions.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Q6KKernel {
  using Tile = Q8x32Tile;

  static int64_t group_bytes(int64_t k) { return packed_bytes(kQ6_KLayout, k / kSuperBlock); }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x32_tile_of(args, first_row, n_rows);
  }

  // Codes of step kStep of run kRun of a half: its nibble and bits 2 kRun of the high part.
  template <int kRun, int kStep>
  QUIRE_VEC_FN B64 codes(const std::byte* low, const std::byte* high) {
    const B64 nibbles = bload(low + kStep * kSliceBytes);
    const B64 pairs = bload(high + kStep * kSliceBytes);
    B64 moved = pairs;
    if constexpr (kRun < 2) moved = bshift_left16<4 - 2 * kRun>(pairs);
    if constexpr (kRun == 3) moved = bshift_right16<2>(pairs);
    return bor(band(kRun < 2 ? nibbles : bshift_right16<4>(nibbles), bset1(0x0f)), band(moved, bset1(0x30)));
  }

  // Four steps, 16 values, from kStep on.
  template <int kRows, int kRun, int kStep, int kEnd = kStep + 4>
  QUIRE_VEC_FN void add_steps(I32 (&sum)[kRows], const std::byte* low, const std::byte* high,
                              const int8_t* activations) {
    add_step<kRows>(sum, codes<kRun, kStep>(low, high), activations, kStep);
    if constexpr (kStep + 1 < kEnd) add_steps<kRows, kRun, kStep + 1, kEnd>(sum, low, high, activations);
  }

  // What a call reads of its rows' activations, at the current half of a super-block.
  struct Activations {
    const int8_t* codes;
    const float* scales;
    const int32_t* minus_32_halves;
    int64_t tile_rows;
    QUIRE_VEC_MEMBER void advance(int64_t n_blocks) {
      codes += n_blocks * tile_rows * kActivationBlock;
      scales += n_blocks * tile_rows;
      minus_32_halves += n_blocks * 2 * tile_rows;
    }
  };

  // acc[m] += dot product of the 16 values from step 4 kPart of run kRun on * d * scale.
  template <int kRows, int kRun, int kPart>
  QUIRE_VEC_FN void add_16(F32 (&acc)[kRows], F32 d, const int8_t* scales, const std::byte* low,
                           const std::byte* high, const Activations& a) {
    const int32_t* start = a.minus_32_halves + (2 * kRun + kPart) * a.tile_rows;
    I32 sum[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sum[m] = iset1(start[m]);
    add_steps<kRows, kRun, 4 * kPart>(sum, low, high, a.codes + kRun * a.tile_rows * kActivationBlock);
    const F32 scale = mul(to_f32(load_i8x16(scales + (2 * kRun + kPart) * kGroupRows)), d);
    add_scaled<kRows>(acc, sum, scale, a.scales + kRun * a.tile_rows);
    end_of_block();
  }

  template <int kRows, int kRun>
  QUIRE_VEC_FN void add_run(F32 (&acc)[kRows], F32 d, const int8_t* scales, const std::byte* low,
                            const std::byte* high, const Activations& a) {
    add_16<kRows, kRun, 0>(acc, d, scales, low, high, a);
    add_16<kRows, kRun, 1>(acc, d, scales, low, high, a);
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    constexpr int kHalfBytes = kQ6_KLayout.block_bytes / 2;
    Activations a = {.codes = tile.codes + row * kActivationBlock,
                     .scales = tile.scales + row,
                     .minus_32_halves = tile.minus_32_halves + row,
                     .tile_rows = tile.n_rows};
    const std::byte* weights = call.weights;
    const int64_t ahead = call.ahead;
    F32 acc[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
    for (int64_t k = 0; k < call.k; k += kSuperBlock) {
      prefetch_ahead<kQ6_KLayout.header_bytes>(weights, ahead);
      const F32 d = load_f16(reinterpret_cast<const uint16_t*>(weights));
      weights += kQ6_KLayout.header_bytes;
      QUIRE_NO_UNROLL for (int half = 0; half < 2; ++half) {
        const auto* scales = reinterpret_cast<const int8_t*>(weights);
        const std::byte* first_low = weights + 8 * kGroupRows;
        const std::byte* high = first_low + 8 * kSliceBytes;
        const std::byte* second_low = high + 8 * kSliceBytes;
        prefetch_ahead<kHalfBytes>(weights, ahead);
        add_run<kRows, 0>(acc, d, scales, first_low, high, a);
        add_run<kRows, 1>(acc, d, scales, second_low, high, a);
        add_run<kRows, 2>(acc, d, scales, first_low, high, a);
        add_run<kRows, 3>(acc, d, scales, second_low, high, a);
        weights += kHalfBytes;
        a.advance(4);
      }
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc[m]);
  }
};

}  // namespace

void run_q6_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Q6KKernel>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA

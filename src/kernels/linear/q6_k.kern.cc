// Q6_K: 6-bit codes around 32 with an int8 scale per 16 values.

#include "kernels/linear/k_quants.h"
#include "kernels/linear/kernel_functions.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Q6KKernel {
  using Tile = Q8x256Tile;

  static int64_t group_bytes(int64_t k) { return packed_bytes(kQ6_KLayout, k / kSuperBlock); }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x256_tile_of(args, first_row, n_rows);
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

  // total[m] += dot product of the 16 values from step 4 kPart on * scale.
  template <int kRows, int kRun, int kPart>
  QUIRE_VEC_FN void add_16(F32 (&total)[kRows], const int8_t* scales, const std::byte* low,
                           const std::byte* high, const int8_t* activations, const int32_t* minus_32_sums) {
    I32 sum[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sum[m] = iset1(minus_32_sums[m]);
    add_steps<kRows, kRun, 4 * kPart>(sum, low, high, activations);
    const F32 scale = to_f32(load_i8x16(scales + (2 * kRun + kPart) * kGroupRows));
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) total[m] = mul_add(to_f32(sum[m]), scale, total[m]);
    end_of_block();
  }

  template <int kRows, int kRun>
  QUIRE_VEC_FN void add_run(F32 (&total)[kRows], const int8_t* scales, const std::byte* low,
                            const std::byte* high, const int8_t* activations, const int32_t* minus_32_sums,
                            int64_t tile_rows) {
    activations += kRun * tile_rows * kActivationBlock;
    minus_32_sums += kRun * 2 * tile_rows;
    add_16<kRows, kRun, 0>(total, scales, low, high, activations, minus_32_sums);
    add_16<kRows, kRun, 1>(total, scales, low, high, activations, minus_32_sums + tile_rows);
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    constexpr int kHalfBytes = kQ6_KLayout.block_bytes / 2;
    const int8_t* activations = tile.codes + row * kActivationBlock;
    const float* a_scales = tile.scales + row;
    const int32_t* minus_32_sums = tile.minus_32_sums + row;
    const std::byte* weights = call.weights;
    const int64_t ahead = call.ahead;

    Accumulators<kRows> acc(call.scratch);
    for (int64_t k = 0; k < call.k; k += kSuperBlock) {
      const std::byte* header = weights;
      prefetch_ahead<kQ6_KLayout.header_bytes>(header, ahead);
      weights += kQ6_KLayout.header_bytes;
      F32 total[kRows];
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) total[m] = zero();
      QUIRE_NO_UNROLL for (int half = 0; half < 2; ++half) {
        const auto* scales = reinterpret_cast<const int8_t*>(weights);
        const std::byte* first_low = weights + 8 * kGroupRows;
        const std::byte* high = first_low + 8 * kSliceBytes;
        const std::byte* second_low = high + 8 * kSliceBytes;
        prefetch_ahead<kHalfBytes>(weights, ahead);
        add_run<kRows, 0>(total, scales, first_low, high, activations, minus_32_sums, tile.n_rows);
        add_run<kRows, 1>(total, scales, second_low, high, activations, minus_32_sums, tile.n_rows);
        add_run<kRows, 2>(total, scales, first_low, high, activations, minus_32_sums, tile.n_rows);
        add_run<kRows, 3>(total, scales, second_low, high, activations, minus_32_sums, tile.n_rows);
        weights += kHalfBytes;
        activations += 4 * tile.n_rows * kActivationBlock;
        minus_32_sums += 8 * tile.n_rows;
      }
      const F32 d = load_f16(reinterpret_cast<const uint16_t*>(header));
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        acc.set(m, mul_add(mul(total[m], d), set1(a_scales[m]), acc.get(m)));
      }
      a_scales += tile.n_rows;
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc.get(m));
  }
};

}  // namespace

void run_q6_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Q6KKernel>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA

// i8x16 and i8x16_offset: int8 codes, stored around 128, with an f32 scale (and offset) per 16 values.
//
// Per 16 values ascending, per output: acc = fma(f32(isum), scale * a_scale, acc), then, with offsets,
// acc = fma(offset, a_scale * sum of activation codes, acc).

#include "kernels/linear/blocks32.h"
#include "kernels/linear/kernel_functions.h"
#include "tensor/int8_codes.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

enum class Offsets { kNone, kPerGroup };

template <Offsets kOffsets>
struct I8x16Kernel {
  using Tile = Q8x32Tile;
  static constexpr BlockLayout kLayout = kOffsets == Offsets::kNone ? kI8x16Layout : kI8x16OffsetLayout;

  static int64_t group_bytes(int64_t k) { return packed_bytes(kLayout, activation_blocks(k)); }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t n_rows) {
    return q8x32_tile_of(args, first_row, n_rows);
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    const int64_t n_blocks = activation_blocks(call.k);
    const int8_t* activations = tile.codes + row * kActivationBlock;
    const float* a_scales = tile.scales + row;
    const int32_t* minus_128_halves = tile.minus_128_halves + row;
    const float* scaled_halves = tile.scaled_halves + row;
    const std::byte* weights = call.weights;

    F32 acc[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
    for (int64_t b = 0; b < n_blocks; ++b) {
      prefetch_ahead<kLayout.header_bytes + kLayout.block_bytes>(weights, call.ahead);
      const std::byte* slices = weights + kLayout.header_bytes;
      QUIRE_NO_UNROLL for (int half = 0; half < 2; ++half) {
        I32 sum[kRows];
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) sum[m] = iset1(minus_128_halves[m]);
        QUIRE_UNROLL for (int step = 0; step < 4; ++step) {
          const B64 codes = bload(slices + step * kSliceBytes);
          QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
            sum[m] =
                dot_u8s8(sum[m], codes, activations + m * kActivationBlock + half * kCodeGroup + 4 * step);
          }
        }
        const F32 scale = load(reinterpret_cast<const float*>(weights) + half * kLanes);
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
          acc[m] = mul_add(to_f32(sum[m]), mul(scale, set1(a_scales[m])), acc[m]);
        }
        if constexpr (kOffsets == Offsets::kPerGroup) {
          const F32 offset = load(reinterpret_cast<const float*>(weights) + (2 + half) * kLanes);
          QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] =
              mul_add(offset, set1(scaled_halves[m]), acc[m]);
        }
        slices += 4 * kSliceBytes;
        minus_128_halves += tile.n_rows;
        scaled_halves += tile.n_rows;
      }
      weights = slices;
      activations += tile.n_rows * kActivationBlock;
      a_scales += tile.n_rows;
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc[m]);
  }
};

}  // namespace

void run_i8x16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<I8x16Kernel<Offsets::kNone>>(args, group_begin, group_end);
}
void run_i8x16_offset(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<I8x16Kernel<Offsets::kPerGroup>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA

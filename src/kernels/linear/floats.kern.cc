// F32, F16 and BF16 weights against f32 rows: acc = fma(w[k], x[k], acc), k ascending.

#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/walk.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct FloatRows {
  const float* x;
  int64_t ld;
};

struct F32Weights {
  static constexpr int kBytes = 4;
  QUIRE_VEC_FN F32 at(const std::byte* p) { return load(reinterpret_cast<const float*>(p)); }
};
struct F16Weights {
  static constexpr int kBytes = 2;
  QUIRE_VEC_FN F32 at(const std::byte* p) { return load_f16(reinterpret_cast<const uint16_t*>(p)); }
};
struct BF16Weights {
  static constexpr int kBytes = 2;
  QUIRE_VEC_FN F32 at(const std::byte* p) { return load_bf16(reinterpret_cast<const uint16_t*>(p)); }
};

template <typename Weights>
struct FloatKernel {
  using Tile = FloatRows;

  static int64_t group_bytes(int64_t k) { return (k * kGroupRows * Weights::kBytes + 63) / 64 * 64; }
  static Tile tile(const LinearArgs& args, int64_t first_row, int64_t) {
    return {reinterpret_cast<const float*>(args.activations) + first_row * args.ld_activations,
            args.ld_activations};
  }

  template <int kRows>
  [[gnu::noinline]] static void rows(const GroupCall& call, const Tile& tile, int64_t row) {
    const float* x = tile.x + row * tile.ld;
    const int64_t ld = tile.ld;
    const std::byte* weights = call.weights;
    F32 acc[kRows];
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
    QUIRE_NO_UNROLL for (int64_t k = 0; k < call.k; ++k) {
      prefetch(weights + call.ahead);
      const F32 w = Weights::at(weights);
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = mul_add(w, set1(x[m * ld + k]), acc[m]);
      weights += kGroupRows * Weights::kBytes;
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_outputs(call, row + m, acc[m]);
  }
};

}  // namespace

void run_f32(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<FloatKernel<F32Weights>>(args, group_begin, group_end);
}
void run_f16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<FloatKernel<F16Weights>>(args, group_begin, group_end);
}
void run_bf16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<FloatKernel<BF16Weights>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA

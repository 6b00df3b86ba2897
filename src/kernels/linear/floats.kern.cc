// F32, F16 and BF16 weights against f32 rows: acc = fma(w[k], x[k], acc), k ascending.

#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/row_counts.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// Up to this many rows a group stays near while all tiles pass; above, tiles are large against the groups of
// a call, which then stay near instead.
constexpr int64_t kGroupOuterRows = 96;

// How far ahead of a read its cache line is asked for.
constexpr int64_t kStreamAhead = 4096;

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
int64_t group_bytes(int64_t k) {
  return (k * kGroupRows * Weights::kBytes + 63) / 64 * 64;
}

// Rows [row, row + kRows) against one group.
template <typename Weights, int kRows>
[[gnu::noinline]] void float_rows(const LinearArgs& args, int64_t group, int64_t row) {
  const int64_t ld = args.ld_activations;
  const float* x = reinterpret_cast<const float*>(args.activations) + row * ld;
  const std::byte* weights = args.weights + group * group_bytes<Weights>(args.k);
  F32 acc[kRows];
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = zero();
  QUIRE_NO_UNROLL for (int64_t k = 0; k < args.k; ++k) {
    prefetch(weights + kStreamAhead);
    const F32 w = Weights::at(weights);
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = mul_add(w, set1(x[m * ld + k]), acc[m]);
    weights += kGroupRows * Weights::kBytes;
  }
  float* out = args.out + row * args.ld_out + group * kGroupRows;
  const int n_valid = valid_columns(args, group);
  QUIRE_UNROLL for (int m = 0; m < kRows; ++m) store_partial(out + m * args.ld_out, acc[m], n_valid);
}

template <typename Weights>
void run_floats(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  const RowTiles tiles = row_tiles(args.m);
  const auto visit = [&](int64_t group, int64_t t) {
    for_row_pieces<kMaxRows>(tile_begin(tiles, t), tile_begin(tiles, t + 1),
                             [&]<int kRows>(int64_t row) { float_rows<Weights, kRows>(args, group, row); });
  };
  if (args.m <= kGroupOuterRows) {
    for (int64_t group = group_begin; group < group_end; ++group) {
      for (int64_t t = 0; t < tiles.count; ++t) visit(group, t);
    }
  } else {
    for (int64_t t = 0; t < tiles.count; ++t) {
      for (int64_t group = group_begin; group < group_end; ++group) visit(group, t);
    }
  }
}

}  // namespace

void run_f32(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_floats<F32Weights>(args, group_begin, group_end);
}
void run_f16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_floats<F16Weights>(args, group_begin, group_end);
}
void run_bf16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_floats<BF16Weights>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA

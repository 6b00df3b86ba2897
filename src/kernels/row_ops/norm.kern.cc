// RMS norm, L2 norm, layer norm, and RMS norm after an addition. Sums: one 16-lane accumulator over the
// columns in ascending order, lane j taking columns j, j + 16, ..., then the halving tree; missing columns of
// the last vector count as zero.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// 1 / sqrt(mean + eps), each operation rounded.
QUIRE_VEC_FN float inverse_root(float sum, int64_t n, float eps) {
  const float mean = sum / static_cast<float>(n);
  return 1.0f / __builtin_sqrtf(mean + eps);
}

QUIRE_VEC_FN float sum_of_squares(const float* x, int64_t n) {
  F32 sum = zero();
  for_columns(n, [&](int64_t i, auto io) {
    const F32 v = io.load(x + i);
    sum = mul_add(v, v, sum);
  });
  return reduce_add(sum);
}

// y = (x * scale) * weight
QUIRE_VEC_FN void scale_by_weight(const float* x, float scale, const float* weight, float* y, int64_t n) {
  const F32 factor = set1(scale);
  if (weight == nullptr) {
    for_columns(n, [&](int64_t i, auto io) { io.store(y + i, mul(io.load(x + i), factor)); });
    return;
  }
  for_columns(
      n, [&](int64_t i, auto io) { io.store(y + i, mul(mul(io.load(x + i), factor), io.load(weight + i))); });
}

void rms_norm(const RmsNormArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    for (int64_t group = 0; group < args.n_groups; ++group) {
      const float* x = args.x + row * args.ld_x + group * args.n_cols;
      float* y = args.y + row * args.ld_y + group * args.n_cols;
      const float scale = inverse_root(sum_of_squares(x, args.n_cols), args.n_cols, args.eps);
      const float* weight = args.weight == nullptr ? nullptr : args.weight + group * args.ld_weight;
      scale_by_weight(x, scale, weight, y, args.n_cols);
    }
  }
}

void l2_norm(const L2NormArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    for (int64_t group = 0; group < args.n_groups; ++group) {
      const float* x = args.x + row * args.ld_x + group * args.n_cols;
      float* y = args.y + row * args.ld_y + group * args.n_cols;
      const float scale = 1.0f / __builtin_sqrtf(sum_of_squares(x, args.n_cols) + args.eps);
      scale_by_weight(x, scale, nullptr, y, args.n_cols);
    }
  }
}

void layer_norm(const LayerNormArgs& args, int64_t row_begin, int64_t row_end) {
  const int64_t n = args.n_cols;
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + row * args.ld_x;
    float* y = args.y + row * args.ld_y;

    F32 sum = zero();
    for_columns(n, [&](int64_t i, auto io) { sum = add(sum, io.load(x + i)); });
    const F32 mean = set1(reduce_add(sum) / static_cast<float>(n));

    // Second pass over centred values: the variance of large, nearly equal values keeps its digits.
    F32 squares = zero();
    for_columns(n, [&](int64_t i, auto io) {
      const F32 centred = io.keep(sub(io.load(x + i), mean), zero());
      squares = mul_add(centred, centred, squares);
    });
    const F32 factor = set1(inverse_root(reduce_add(squares), n, args.eps));

    for_columns(n, [&](int64_t i, auto io) {
      F32 v = mul(sub(io.load(x + i), mean), factor);
      if (args.weight != nullptr) v = mul(v, io.load(args.weight + i));
      if (args.bias != nullptr) v = add(v, io.load(args.bias + i));
      io.store(y + i, v);
    });
  }
}

void add_rms_norm(const AddRmsNormArgs& args, int64_t row_begin, int64_t row_end) {
  const int64_t n = args.n_cols;
  const F32 b_scale = set1(args.b_scale);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* a = args.a + row * args.ld_a;
    const float* b = args.b + row * args.ld_b;
    float* sum = args.sum + row * args.ld_sum;
    F32 squares = zero();
    for_columns(n, [&](int64_t i, auto io) {
      const F32 v = mul_add(io.load(b + i), b_scale, io.load(a + i));  // equals a + b when the scale is 1
      io.store(sum + i, v);
      squares = mul_add(v, v, squares);
    });
    const float scale = inverse_root(reduce_add(squares), n, args.eps);
    scale_by_weight(sum, scale, args.weight, args.y + row * args.ld_y, n);
  }
}

}  // namespace

NormOps norm_ops() {
  return {.rms_norm = rms_norm, .l2_norm = l2_norm, .layer_norm = layer_norm, .add_rms_norm = add_rms_norm};
}

}  // namespace quire::kernels::QUIRE_ISA

// Additions, scaling and soft capping: each output element depends on the same element of the inputs only.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

void add_rows(const AddArgs& args, int64_t row_begin, int64_t row_end) {
  const F32 b_scale = set1(args.b_scale);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* a = args.a + row * args.ld_a;
    const float* b = args.b + row * args.ld_b;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols, [&](int64_t i, auto io) {
      io.store(y + i, mul_add(io.load(b + i), b_scale, io.load(a + i)));  // equals a + b when the scale is 1
    });
  }
}

void add_bias(const AddBiasArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + row * args.ld_x;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols,
                [&](int64_t i, auto io) { io.store(y + i, add(io.load(x + i), io.load(args.bias + i))); });
  }
}

void scale_rows(const ScaleArgs& args, int64_t row_begin, int64_t row_end) {
  const F32 scale = set1(args.scale);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + row * args.ld_x;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols, [&](int64_t i, auto io) { io.store(y + i, mul(io.load(x + i), scale)); });
  }
}

void softcap(const SoftcapArgs& args, int64_t row_begin, int64_t row_end) {
  const F32 cap = set1(args.cap);
  const F32 inverse = set1(1.0f / args.cap);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + row * args.ld_x;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols,
                [&](int64_t i, auto io) { io.store(y + i, mul(cap, tanh(mul(io.load(x + i), inverse)))); });
  }
}

}  // namespace

ElementwiseOps elementwise_ops() {
  return {.add = add_rows, .add_bias = add_bias, .scale = scale_rows, .softcap = softcap};
}

}  // namespace quire::kernels::QUIRE_ISA

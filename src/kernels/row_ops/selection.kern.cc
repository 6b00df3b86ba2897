// Argmax, and copying rows picked by an index.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// The first index of the largest value of n; 0 when all are NaN.
QUIRE_VEC_FN int64_t argmax_of(const float* x, int64_t n) {
  const F32 lowest = set1(-__builtin_inff());
  F32 best = lowest;
  for_columns(n, [&](int64_t i, auto io) {
    best = max(io.keep(io.load(x + i), lowest), best);  // a NaN loses: max answers its second operand
  });
  const F32 target = set1(reduce_max(best));
  for (int64_t i = 0; i < n; i += kLanes) {
    const int lanes = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    const Mask found = mask_and(cmp_eq(load_partial(x + i, lanes), target), mask_first(lanes));
    if (any(found)) return i + __builtin_ctz(mask_bits(found));
  }
  return 0;
}

void argmax(const ArgmaxArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    args.ids[row] = static_cast<int32_t>(argmax_of(args.x + row * args.ld_x, args.n_cols));
  }
}

void copy_rows(const CopyRowsArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + args.index[row] * args.ld_x;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols, [&](int64_t i, auto io) { io.store(y + i, io.load(x + i)); });
  }
}

}  // namespace

SelectionOps selection_ops() { return {.argmax = argmax, .copy_rows = copy_rows}; }

}  // namespace quire::kernels::QUIRE_ISA

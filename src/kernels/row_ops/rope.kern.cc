// Rotary position embedding (RoPE, arXiv 2104.09864): the tables of a step, and the rotation of heads by
// them.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

void rope_table(const RopeTableArgs& args, int64_t row_begin, int64_t row_end) {
  const F32 magnitude = set1(args.magnitude);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const F32 position = set1(static_cast<float>(args.positions[row]));
    float* cos = args.table + row * 2 * args.n_pairs;
    float* sin = cos + args.n_pairs;
    for_columns(args.n_pairs, [&](int64_t i, auto io) {
      const SinCos angle = sin_cos(mul(position, io.load(args.inv_freq + i)));
      io.store(cos + i, mul(angle.cos, magnitude));
      io.store(sin + i, mul(angle.sin, magnitude));
    });
  }
}

// (a, b) rotated by the angle: a cos - b sin, a sin + b cos; the product with sin is rounded first.
struct Pair {
  F32 a, b;
};
QUIRE_VEC_FN Pair rotate(F32 a, F32 b, F32 cos, F32 sin) {
  return {.a = mul_sub(a, cos, mul(b, sin)), .b = mul_add(b, cos, mul(a, sin))};
}

QUIRE_VEC_FN void rotate_halves(const float* x, float* y, const float* cos, const float* sin,
                                int64_t n_pairs) {
  for_columns(n_pairs, [&](int64_t i, auto io) {
    const Pair r = rotate(io.load(x + i), io.load(x + n_pairs + i), io.load(cos + i), io.load(sin + i));
    io.store(y + i, r.a);
    io.store(y + n_pairs + i, r.b);
  });
}

QUIRE_VEC_FN void rotate_adjacent(const float* x, float* y, const float* cos, const float* sin,
                                  int64_t n_pairs) {
  for_columns(n_pairs, [&](int64_t i, auto io) {
    const auto low = io.low_of_pairs(), high = io.high_of_pairs();
    const F32 v0 = low.load(x + 2 * i), v1 = high.load(x + 2 * i + kLanes);
    const Pair r = rotate(even_lanes(v0, v1), odd_lanes(v0, v1), io.load(cos + i), io.load(sin + i));
    low.store(y + 2 * i, interleave_low(r.a, r.b));
    high.store(y + 2 * i + kLanes, interleave_high(r.a, r.b));
  });
}

void rope(const RopeArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* cos = args.table + row * 2 * args.n_pairs;
    const float* sin = cos + args.n_pairs;
    for (int64_t head = 0; head < args.n_heads; ++head) {
      const float* x = args.x + row * args.ld_x + head * args.d_head;
      float* y = args.y + row * args.ld_y + head * args.d_head;
      if (args.pairs == RopePairs::kHalves) {
        rotate_halves(x, y, cos, sin, args.n_pairs);
      } else {
        rotate_adjacent(x, y, cos, sin, args.n_pairs);
      }
      if (x == y) continue;
      const int64_t rotated = 2 * args.n_pairs;
      for_columns(args.d_head - rotated,
                  [&](int64_t i, auto io) { io.store(y + rotated + i, io.load(x + rotated + i)); });
    }
  }
}

}  // namespace

RopeOps rope_ops() { return {.rope_table = rope_table, .rope = rope}; }

}  // namespace quire::kernels::QUIRE_ISA

// The gated delta rule, 16 columns of a head's state at a time. With g = exp(a * dt), sums over d_k as in the
// scan (fma into sum i % 4, from +0, added (0 + 1) + (2 + 3)):
//   delta = beta * fma(-g, sum of S k, v)     S = fma(k, delta, S * g)     y = (sum of S q) * scale
#include "kernels/recurrent/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

template <typename Io>
QUIRE_VEC_FN void delta_unit(const DeltaArgs& args, const StateSpan& span, int64_t unit, Io io) {
  const int64_t head = unit / column_units(args.d_v);
  const int64_t key_head =
      args.key_heads == KeyHeads::kCyclic ? head % args.n_key_head : head / (args.n_head / args.n_key_head);
  const int64_t column = head * args.d_v + unit % column_units(args.d_v) * kUnitColumns;
  const int64_t n = kUnitColumns * args.d_k;
  for_states(args.state, span, unit * n, n, [&](int32_t row, StateStep s) {
    const float* q = args.q + row * args.ld_q + key_head * args.d_k;
    const float* k = args.k + row * args.ld_k + key_head * args.d_k;
    const F32 decay = exp(mul(set1(args.a[head]), set1(args.dt[row * args.ld_dt + head])));
    FourSums known;
    for_four(args.d_k, [&](int64_t i, int j) {
      known.sum[j] = mul_add(load(s.from + i * kLanes), set1(k[i]), known.sum[j]);
    });
    const F32 v = io.load(args.v + row * args.ld_v + column);
    const F32 delta = mul(set1(args.beta[row * args.ld_beta + head]), neg_mul_add(decay, known.total(), v));
    FourSums y;
    for_four(args.d_k, [&](int64_t i, int j) {
      const F32 next = mul_add(set1(k[i]), delta, mul(load(s.from + i * kLanes), decay));
      store(s.to + i * kLanes, next);
      y.sum[j] = mul_add(next, set1(q[i]), y.sum[j]);
    });
    io.store(args.y + row * args.ld_y + column, mul(y.total(), set1(args.scale)));
  });
}

void delta(const DeltaArgs& args, const StateSpan& span, int64_t unit_begin, int64_t unit_end) {
  for (int64_t unit = unit_begin; unit < unit_end; ++unit) {
    const int64_t rest = args.d_v - unit % column_units(args.d_v) * kUnitColumns;
    if (rest >= kLanes) {
      delta_unit(args, span, unit, FullVector{});
    } else {
      delta_unit(args, span, unit, PartialVector{static_cast<int>(rest)});
    }
  }
}

}  // namespace

StateFn<DeltaArgs> delta_op() { return delta; }

}  // namespace quire::kernels::QUIRE_ISA

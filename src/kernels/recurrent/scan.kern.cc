// The scan of Mamba 2, 16 columns of a head's state at a time. With u = x * dt and g = exp(a * dt), products
// rounded: S = fma(b, u, S * g); the sum over the state is fma(S, c, sum) into sum n % 4 for state row n,
// from +0, added (0 + 1) + (2 + 3); y = fma(x, d, sum).
#include "kernels/recurrent/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

template <typename Io>
QUIRE_VEC_FN void scan_unit(const ScanArgs& args, const StateSpan& span, int64_t unit, Io io) {
  const int64_t head = unit / column_units(args.d_head);
  const int64_t group = head * args.n_group / args.n_head;
  const int64_t column = head * args.d_head + unit % column_units(args.d_head) * kUnitColumns;
  const int64_t n = kUnitColumns * args.d_state;
  for_states(args.state, span, unit * n, n, [&](int32_t row, StateStep s) {
    const float* b = args.b + row * args.ld_b + group * args.d_state;
    const float* c = args.c + row * args.ld_c + group * args.d_state;
    const F32 dt = set1(args.dt[row * args.ld_dt + head]);
    const F32 x = io.load(args.x + row * args.ld_x + column);
    const F32 u = mul(x, dt);
    const F32 decay = exp(mul(set1(args.a[head]), dt));
    FourSums y;
    for_four(args.d_state, [&](int64_t i, int j) {
      const F32 next = mul_add(set1(b[i]), u, mul(load(s.from + i * kLanes), decay));
      store(s.to + i * kLanes, next);
      y.sum[j] = mul_add(next, set1(c[i]), y.sum[j]);
    });
    io.store(args.y + row * args.ld_y + column, mul_add(x, set1(args.d[head]), y.total()));
  });
}

void scan(const ScanArgs& args, const StateSpan& span, int64_t unit_begin, int64_t unit_end) {
  for (int64_t unit = unit_begin; unit < unit_end; ++unit) {
    const int64_t rest = args.d_head - unit % column_units(args.d_head) * kUnitColumns;
    if (rest >= kLanes) {
      scan_unit(args, span, unit, FullVector{});
    } else {
      scan_unit(args, span, unit, PartialVector{static_cast<int>(rest)});
    }
  }
}

}  // namespace

StateFn<ScanArgs> scan_op() { return scan; }

}  // namespace quire::kernels::QUIRE_ISA

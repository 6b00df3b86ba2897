// The scan of Mamba 1, a channel at a time with its state along the lanes. With u = x * dt, products rounded:
// S = fma(b, u, S * exp(a * dt)); the sum over the state is fma(S, c, sum), 16 states at a time ascending,
// then the halving tree; y = fma(x, d, sum).
#include "kernels/recurrent/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

QUIRE_VEC_FN void scan_channel(const ChannelScanArgs& args, const StateSpan& span, int64_t channel) {
  const int64_t n = column_units(args.d_state) * kUnitColumns;
  const float* a = args.a + channel * args.d_state;
  for_states(args.state, span, channel * n, n, [&](int32_t row, StateStep s) {
    const float* b = args.b + row * args.ld_b;
    const float* c = args.c + row * args.ld_c;
    const float x = args.x[row * args.ld_x + channel];
    const F32 dt = set1(args.dt[row * args.ld_dt + channel]);
    const F32 u = mul(set1(x), dt);
    F32 sum = zero();
    for_columns(args.d_state, [&](int64_t i, auto io) {
      const F32 decay = exp(mul(io.load(a + i), dt));
      const F32 next = mul_add(io.load(b + i), u, mul(load(s.from + i), decay));
      store(s.to + i, next);
      sum = mul_add(next, io.load(c + i), sum);
    });
    args.y[row * args.ld_y + channel] = __builtin_fmaf(x, args.d[channel], reduce_add(sum));
  });
}

void channel_scan(const ChannelScanArgs& args, const StateSpan& span, int64_t unit_begin, int64_t unit_end) {
  const int64_t end = unit_end * kUnitColumns < args.n_channels ? unit_end * kUnitColumns : args.n_channels;
  for (int64_t channel = unit_begin * kUnitColumns; channel < end; ++channel)
    scan_channel(args, span, channel);
}

}  // namespace

StateFn<ChannelScanArgs> channel_scan_op() { return channel_scan; }

}  // namespace quire::kernels::QUIRE_ISA

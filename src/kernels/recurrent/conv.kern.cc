// Causal convolution of each channel with a few taps. Order: from +0 the taps ascending, oldest row first,
// each product fused to the sum; then the bias, then the activation.
#include "kernels/recurrent/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// The rows of x that the next row still meets are held in registers; a slot gets them when the next row
// names another one.
template <int kTaps, typename Io>
QUIRE_VEC_FN void conv_unit(const ConvArgs& args, const StateSpan& span, int64_t channel, Io io) {
  constexpr int kOld = kTaps - 1;
  const int64_t tail_stride = conv_units(args.n_channels) * kUnitColumns;
  const auto tail = [&](int32_t slot) { return args.state.states + slot * args.state.stride + channel; };
  F32 weight[kTaps], old[kTaps];
  for (int j = 0; j < kTaps; ++j) weight[j] = io.load(args.weight + j * args.n_channels + channel);
  for (int j = 0; j < kOld; ++j)
    old[j] = span.source >= 0 ? load(tail(span.source) + j * tail_stride) : zero();
  const F32 bias = args.bias == nullptr ? zero() : io.load(args.bias + channel);
  for (int32_t row = span.row_begin; row < span.row_end; ++row) {
    old[kOld] = io.load(args.x + row * args.ld_x + channel);
    F32 sum = zero();
    for (int j = 0; j < kTaps; ++j) sum = mul_add(weight[j], old[j], sum);
    if (args.bias != nullptr) sum = add(sum, bias);
    if (args.activation == ConvActivation::kSilu) sum = silu(sum);
    io.store(args.y + row * args.ld_y + channel, sum);
    for (int j = 0; j < kOld; ++j) old[j] = old[j + 1];
    const int32_t slot = args.state.slots[row];
    if (row + 1 < span.row_end && args.state.slots[row + 1] == slot) continue;
    for (int j = 0; j < kOld; ++j) store(tail(slot) + j * tail_stride, old[j]);
  }
}

template <int kTaps>
QUIRE_VEC_FN void conv_units_of(const ConvArgs& args, const StateSpan& span, int64_t unit_begin,
                                int64_t unit_end) {
  for (int64_t unit = unit_begin; unit < unit_end; ++unit) {
    const int64_t channel = unit * kUnitColumns;
    if (channel + kLanes <= args.n_channels) {
      conv_unit<kTaps>(args, span, channel, FullVector{});
    } else {
      conv_unit<kTaps>(args, span, channel, PartialVector{static_cast<int>(args.n_channels - channel)});
    }
  }
}

void conv(const ConvArgs& args, const StateSpan& span, int64_t unit_begin, int64_t unit_end) {
  switch (args.n_taps) {
    case 1:
      return conv_units_of<1>(args, span, unit_begin, unit_end);
    case 2:
      return conv_units_of<2>(args, span, unit_begin, unit_end);
    case 3:
      return conv_units_of<3>(args, span, unit_begin, unit_end);
    case 4:
      return conv_units_of<4>(args, span, unit_begin, unit_end);
    case 5:
      return conv_units_of<5>(args, span, unit_begin, unit_end);
    case 6:
      return conv_units_of<6>(args, span, unit_begin, unit_end);
    case 7:
      return conv_units_of<7>(args, span, unit_begin, unit_end);
    default:
      return conv_units_of<kMaxConvTaps>(args, span, unit_begin, unit_end);
  }
}

}  // namespace

StateFn<ConvArgs> conv_op() { return conv; }

}  // namespace quire::kernels::QUIRE_ISA

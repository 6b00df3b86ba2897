#include "graph/cpu/recurrent_step.h"

#include <algorithm>
#include <variant>

#include "base/check.h"

namespace quire::graph {
namespace {

// Parts of a span for each thread: enough to balance, few enough to hand out.
constexpr int64_t kPartsPerThread = 4;

template <typename Args>
void run_units(const StepContext& context, kernels::StateFn<Args> fn, const Args& args, int64_t n_units) {
  const std::span<const kernels::StateSpan> spans = context.step->states.spans;
  const auto n_spans = static_cast<int64_t>(spans.size());
  const int64_t wanted =
      std::max<int64_t>(1, kPartsPerThread * context.n_threads / std::max<int64_t>(1, n_spans));
  const int64_t units = std::max<int64_t>(1, n_units / wanted);  // of one part
  const int64_t n_parts = (n_units + units - 1) / units;
  context.pool->run(n_spans * n_parts, [&](int64_t i, int) {
    const int64_t begin = i % n_parts * units;
    fn(args, spans[static_cast<size_t>(i / n_parts)], begin, std::min(n_units, begin + units));
  });
}

// Runs one recurrence: one overload per kind.
struct Recurrence {
  const StepContext& s;
  const Op& op;

  const float* in(size_t i) const { return s.f32(op.inputs[i]); }
  int64_t ld(size_t i) const { return s.ld(op.inputs[i]); }
  int64_t cols(size_t i) const { return s.program->info(op.inputs[i]).cols; }
  const float* weight(size_t i) const { return i < op.weights.size() ? s.vector(op.weights[i]) : nullptr; }
  float* out() const { return s.f32(op.outputs[0]); }
  int64_t ld_out() const { return s.ld(op.outputs[0]); }
  kernels::StateSlots slots(int32_t layer, int64_t offset) const {
    const StateBinding& binding = s.states[static_cast<size_t>(layer)];
    return {.states = binding.states + offset, .stride = binding.stride, .slots = s.step->states.slots};
  }
  int64_t tail(int32_t layer) const { return s.program->state_layers[static_cast<size_t>(layer)].tail; }

  void operator()(const CausalConvAttrs& a) const {
    const kernels::ConvArgs args{.state = slots(a.state_layer, 0),
                                 .x = in(0),
                                 .ld_x = ld(0),
                                 .y = out(),
                                 .ld_y = ld_out(),
                                 .weight = weight(0),
                                 .bias = weight(1),
                                 .n_channels = cols(0),
                                 .n_taps = a.n_taps,
                                 .activation = a.activation};
    run_units(s, s.kernels->recurrent.conv, args, kernels::conv_units(args.n_channels));
  }
  void operator()(const ScanAttrs& a) const {
    const kernels::ScanArgs args{.state = slots(a.state_layer, tail(a.state_layer)),
                                 .x = in(0),
                                 .ld_x = ld(0),
                                 .dt = in(1),
                                 .ld_dt = ld(1),
                                 .b = in(2),
                                 .ld_b = ld(2),
                                 .c = in(3),
                                 .ld_c = ld(3),
                                 .a = weight(0),
                                 .d = weight(1),
                                 .y = out(),
                                 .ld_y = ld_out(),
                                 .n_head = a.n_head,
                                 .d_head = cols(0) / a.n_head,
                                 .n_group = a.n_group,
                                 .d_state = cols(2) / a.n_group};
    run_units(s, s.kernels->recurrent.scan, args, kernels::scan_units(args.n_head, args.d_head));
  }
  void operator()(const ChannelScanAttrs& a) const {
    const kernels::ChannelScanArgs args{.state = slots(a.state_layer, tail(a.state_layer)),
                                        .x = in(0),
                                        .ld_x = ld(0),
                                        .dt = in(1),
                                        .ld_dt = ld(1),
                                        .b = in(2),
                                        .ld_b = ld(2),
                                        .c = in(3),
                                        .ld_c = ld(3),
                                        .a = weight(0),
                                        .d = weight(1),
                                        .y = out(),
                                        .ld_y = ld_out(),
                                        .n_channels = cols(0),
                                        .d_state = cols(2)};
    run_units(s, s.kernels->recurrent.channel_scan, args, kernels::channel_scan_units(args.n_channels));
  }
  void operator()(const DeltaAttrs& a) const {
    const kernels::DeltaArgs args{.state = slots(a.state_layer, tail(a.state_layer)),
                                  .q = in(0),
                                  .ld_q = ld(0),
                                  .k = in(1),
                                  .ld_k = ld(1),
                                  .v = in(2),
                                  .ld_v = ld(2),
                                  .beta = in(3),
                                  .ld_beta = ld(3),
                                  .dt = in(4),
                                  .ld_dt = ld(4),
                                  .a = weight(0),
                                  .y = out(),
                                  .ld_y = ld_out(),
                                  .n_head = a.n_head,
                                  .n_key_head = a.n_key_head,
                                  .d_k = cols(0) / a.n_key_head,
                                  .d_v = cols(2) / a.n_head,
                                  .key_heads = a.key_heads,
                                  .scale = a.scale};
    run_units(s, s.kernels->recurrent.delta, args, kernels::delta_units(args.n_head, args.d_v));
  }
  template <typename Other>
  void operator()(const Other&) const {
    QUIRE_CHECK(false);  // is_recurrent() decides who comes here
  }
};

}  // namespace

void RecurrentStep::run(const StepContext& context) const {
  std::visit(Recurrence{context, *op_}, op_->attrs);
}

}  // namespace quire::graph

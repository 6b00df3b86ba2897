// The part of ProgramBuilder that layers with a state use.
#include "base/check.h"
#include "graph/builder.h"

namespace quire::graph {

StateId ProgramBuilder::state_layer() {
  program_.state_layers.emplace_back();
  return {static_cast<int32_t>(program_.state_layers.size() - 1)};
}

Value ProgramBuilder::causal_conv(Value x, StateId state, const ConvParams& p) {
  const ValueInfo in = info(x);
  StateLayer& layer = program_.state_layers[static_cast<size_t>(state.id)];
  QUIRE_CHECK(in.type == DataType::kF32 && in.rows == Rows::kTokens && in.n_used == 0 && layer.tail == 0);
  QUIRE_CHECK(p.n_taps >= 1 && p.n_taps <= kernels::kMaxConvTaps);
  layer.tail = kernels::conv_state_floats(in.cols, p.n_taps);
  std::vector<WeightId> weights = {declare(p.weight, WeightRole::kTransposed, p.n_taps, in.cols)};
  if (!p.bias.empty()) weights.push_back(declare(p.bias, WeightRole::kVector, in.cols, 1));
  const CausalConvAttrs attrs{.state_layer = state.id, .n_taps = p.n_taps, .activation = p.activation};
  return emit(attrs, {x}, std::move(weights), new_value(in.rows, in.cols), "conv");
}

Value ProgramBuilder::scan(Value x, Value dt, Value b, Value c, StateId state, const ScanParams& p) {
  const ValueInfo in = info(x);
  StateLayer& layer = program_.state_layers[static_cast<size_t>(state.id)];
  QUIRE_CHECK(in.rows == Rows::kTokens && layer.state == 0);
  QUIRE_CHECK(p.n_head > 0 && in.cols % p.n_head == 0 && info(dt).cols == p.n_head);
  QUIRE_CHECK(p.n_group > 0 && info(b).cols % p.n_group == 0 && info(c).cols == info(b).cols);
  layer.state = kernels::scan_state_floats(p.n_head, in.cols / p.n_head, info(b).cols / p.n_group);
  const ScanAttrs attrs{.state_layer = state.id, .n_head = p.n_head, .n_group = p.n_group};
  return emit(attrs, {x, dt, b, c}, {declare_values(p.a, p.n_head), declare_values(p.d, p.n_head)},
              new_value(in.rows, in.cols), "scan");
}

Value ProgramBuilder::channel_scan(Value x, Value dt, Value b, Value c, StateId state,
                                   const ChannelScanParams& p) {
  const ValueInfo in = info(x);
  StateLayer& layer = program_.state_layers[static_cast<size_t>(state.id)];
  QUIRE_CHECK(in.rows == Rows::kTokens && layer.state == 0);
  QUIRE_CHECK(info(dt).cols == in.cols && info(c).cols == info(b).cols);
  layer.state = kernels::channel_scan_state_floats(in.cols, info(b).cols);
  return emit(ChannelScanAttrs{.state_layer = state.id}, {x, dt, b, c},
              {declare(p.a, WeightRole::kVector, info(b).cols, in.cols),
               declare(p.d, WeightRole::kVector, in.cols, 1)},
              new_value(in.rows, in.cols), "channel_scan");
}

Value ProgramBuilder::delta(const DeltaInputs& in, StateId state, const DeltaParams& p) {
  const ValueInfo v = info(in.v);
  StateLayer& layer = program_.state_layers[static_cast<size_t>(state.id)];
  QUIRE_CHECK(v.rows == Rows::kTokens && layer.state == 0);
  QUIRE_CHECK(p.n_key_head > 0 && p.n_head % p.n_key_head == 0 && v.cols % p.n_head == 0);
  QUIRE_CHECK(info(in.q).cols % p.n_key_head == 0 && info(in.k).cols == info(in.q).cols);
  QUIRE_CHECK(info(in.beta).cols == p.n_head && info(in.dt).cols == p.n_head);
  layer.state = kernels::delta_state_floats(p.n_head, info(in.q).cols / p.n_key_head, v.cols / p.n_head);
  const DeltaAttrs attrs{.state_layer = state.id,
                         .n_head = p.n_head,
                         .n_key_head = p.n_key_head,
                         .key_heads = p.key_heads,
                         .scale = p.scale};
  return emit(attrs, {in.q, in.k, in.v, in.beta, in.dt}, {declare_values(p.a, p.n_head)},
              new_value(v.rows, v.cols), "delta");
}

}  // namespace quire::graph

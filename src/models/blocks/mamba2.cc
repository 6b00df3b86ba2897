#include "models/blocks/mamba2.h"

#include "models/blocks/ssm_keys.h"

namespace quire {

using graph::Value;

Result<Mamba2Params> read_mamba2(const Keys& keys) {
  Mamba2Params p;
  QUIRE_ASSIGN_OR_RETURN(p.d_inner, keys.integer("ssm.inner_size", 1, kMaxSsmWidth));
  QUIRE_ASSIGN_OR_RETURN(p.d_state, keys.integer("ssm.state_size", 1, kMaxSsmState));
  QUIRE_ASSIGN_OR_RETURN(p.n_head, keys.integer("ssm.time_step_rank", 1, p.d_inner));
  QUIRE_ASSIGN_OR_RETURN(p.n_group, keys.integer("ssm.group_count", 1, p.n_head));
  QUIRE_ASSIGN_OR_RETURN(p.n_taps, keys.integer("ssm.conv_kernel", 1, kernels::kMaxConvTaps));
  QUIRE_RETURN_IF_ERROR(expect_multiple(keys, "ssm.inner_size", p.d_inner, "ssm.time_step_rank", p.n_head));
  QUIRE_RETURN_IF_ERROR(expect_multiple(keys, "ssm.time_step_rank", p.n_head, "ssm.group_count", p.n_group));
  return p;
}

graph::Value mamba2_block(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                          const Mamba2Params& p, float norm_eps) {
  const int64_t d_group = p.n_group * p.d_state;
  const int64_t n_channels = p.d_inner + 2 * d_group;
  const std::string conv = layer + ".ssm_conv1d";
  const Value projected = b.linear(x, layer + ".ssm_in.weight", p.d_inner + n_channels + p.n_head);
  const Value z = b.slice(projected, 0, p.d_inner);
  const Value xbc = b.slice(projected, p.d_inner, n_channels);
  const Value raw_dt = b.slice(projected, p.d_inner + n_channels, p.n_head);

  const graph::StateId state = b.state_layer();
  const Value mixed = b.causal_conv(
      xbc, state,
      {.weight = conv + ".weight", .bias = b.has(conv + ".bias") ? conv + ".bias" : "", .n_taps = p.n_taps});
  const Value dt = b.activation(b.add_bias(raw_dt, layer + ".ssm_dt.bias"), kernels::Activation::kSoftplus);
  Value y = b.scan(b.slice(mixed, 0, p.d_inner), dt, b.slice(mixed, p.d_inner, d_group),
                   b.slice(mixed, p.d_inner + d_group, d_group), state,
                   {.a = layer + ".ssm_a", .d = layer + ".ssm_d", .n_head = p.n_head, .n_group = p.n_group});
  y = b.gated_activation(z, y, kernels::Activation::kSilu);
  if (p.norm == ScanNorm::kAlways || b.has(layer + ".ssm_norm.weight"))
    y = b.rms_norm_by_group(y, layer + ".ssm_norm.weight", norm_eps, p.n_group);
  return b.linear(y, layer + ".ssm_out.weight", d_model);
}

}  // namespace quire

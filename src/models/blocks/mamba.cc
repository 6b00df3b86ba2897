#include "models/blocks/mamba.h"

#include "models/blocks/ssm_keys.h"

namespace quire {

using graph::Value;

Result<MambaParams> read_mamba(const Keys& keys) {
  MambaParams p;
  QUIRE_ASSIGN_OR_RETURN(p.n_channels, keys.integer("ssm.inner_size", 1, kMaxSsmWidth));
  QUIRE_ASSIGN_OR_RETURN(p.d_state, keys.integer("ssm.state_size", 1, kMaxSsmState));
  QUIRE_ASSIGN_OR_RETURN(p.dt_rank, keys.integer("ssm.time_step_rank", 1, kMaxSsmWidth));
  QUIRE_ASSIGN_OR_RETURN(p.n_taps, keys.integer("ssm.conv_kernel", 1, kernels::kMaxConvTaps));
  QUIRE_ASSIGN_OR_RETURN(const bool plain_norm, keys.get_or<bool>("ssm.dt_b_c_rms", false));
  if (plain_norm) p.norm = SelectionNorm::kPlain;
  return p;
}

graph::Value mamba_block(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                         const MambaParams& p, float norm_eps) {
  const Value projected = b.linear(x, layer + ".ssm_in.weight", 2 * p.n_channels);
  const Value z = b.slice(projected, p.n_channels, p.n_channels);

  const graph::StateId state = b.state_layer();
  const Value u = b.causal_conv(
      b.slice(projected, 0, p.n_channels), state,
      {.weight = layer + ".ssm_conv1d.weight", .bias = layer + ".ssm_conv1d.bias", .n_taps = p.n_taps});
  const Value selection = b.linear(u, layer + ".ssm_x.weight", p.dt_rank + 2 * p.d_state);
  const auto selected = [&](int64_t offset, int64_t cols, const char* name) {
    const Value part = b.slice(selection, offset, cols);
    switch (p.norm) {
      case SelectionNorm::kNone:
        return part;
      case SelectionNorm::kPlain:
        return b.rms_norm_plain(part, norm_eps);
      case SelectionNorm::kWeights:
        return b.rms_norm(part, layer + ".ssm_" + name + "_norm.weight", norm_eps);
    }
    return part;
  };
  const Value rank = selected(0, p.dt_rank, "dt");
  const Value in = selected(p.dt_rank, p.d_state, "b");
  const Value out = selected(p.dt_rank + p.d_state, p.d_state, "c");
  const Value raw_dt =
      b.add_bias(b.linear(rank, layer + ".ssm_dt.weight", p.n_channels), layer + ".ssm_dt.bias");
  const Value dt = b.activation(raw_dt, kernels::Activation::kSoftplus);

  const Value y = b.channel_scan(u, dt, in, out, state, {.a = layer + ".ssm_a", .d = layer + ".ssm_d"});
  return b.linear(b.gated_activation(z, y, kernels::Activation::kSilu), layer + ".ssm_out.weight", d_model);
}

}  // namespace quire

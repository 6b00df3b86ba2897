#include "models/blocks/delta_net.h"

#include <cmath>

#include "models/blocks/ssm_keys.h"

namespace quire {

using graph::Value;

Result<DeltaNetParams> read_delta_net(const Keys& keys) {
  DeltaNetParams p;
  QUIRE_ASSIGN_OR_RETURN(p.d_k, keys.integer("ssm.state_size", 1, kMaxSsmState));
  QUIRE_ASSIGN_OR_RETURN(p.n_head, keys.integer("ssm.time_step_rank", 1, kMaxSsmState));
  QUIRE_ASSIGN_OR_RETURN(p.n_key_head, keys.integer("ssm.group_count", 1, p.n_head));
  QUIRE_ASSIGN_OR_RETURN(p.n_taps, keys.integer("ssm.conv_kernel", 1, kernels::kMaxConvTaps));
  QUIRE_ASSIGN_OR_RETURN(const int64_t d_inner, keys.integer("ssm.inner_size", 1, kMaxSsmWidth));
  QUIRE_RETURN_IF_ERROR(expect_multiple(keys, "ssm.inner_size", d_inner, "ssm.time_step_rank", p.n_head));
  QUIRE_RETURN_IF_ERROR(
      expect_multiple(keys, "ssm.time_step_rank", p.n_head, "ssm.group_count", p.n_key_head));
  p.d_v = d_inner / p.n_head;
  return p;
}

namespace {

// What each head is told by its row: how much it writes, how fast it forgets.
struct Gates {
  Value beta, alpha;
};

Gates gates(graph::ProgramBuilder& b, const std::string& layer, Value x, const DeltaNetParams& p) {
  if (!b.has(layer + ".ssm_ba.weight")) {
    return {.beta = b.linear(x, layer + ".ssm_beta.weight", p.n_head),
            .alpha = b.linear(x, layer + ".ssm_alpha.weight", p.n_head)};
  }
  const int64_t per_key = p.n_head / p.n_key_head;
  const Value both = b.linear(x, layer + ".ssm_ba.weight", 2 * p.n_head);
  return {.beta = b.slice_heads(both, p.n_key_head, 0, per_key),
          .alpha = b.slice_heads(both, p.n_key_head, per_key, per_key)};
}

}  // namespace

graph::Value delta_net_block(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                             const DeltaNetParams& p, float norm_eps) {
  const int64_t key_cols = p.n_key_head * p.d_k, value_cols = p.n_head * p.d_v;
  const Value qkv = b.linear(x, layer + ".attn_qkv.weight", 2 * key_cols + value_cols);
  const Value z = b.linear(x, layer + ".attn_gate.weight", value_cols);
  const Gates gate = gates(b, layer, x, p);

  const graph::StateId state = b.state_layer();
  const Value mixed = b.causal_conv(qkv, state, {.weight = layer + ".ssm_conv1d.weight", .n_taps = p.n_taps});
  const Value q = b.l2_norm(b.slice(mixed, 0, key_cols), norm_eps, p.n_key_head);
  const Value k = b.l2_norm(b.slice(mixed, key_cols, key_cols), norm_eps, p.n_key_head);
  const Value v = b.slice(mixed, 2 * key_cols, value_cols);
  const Value beta = b.activation(gate.beta, kernels::Activation::kSigmoid);
  const Value dt =
      b.activation(b.add_bias(gate.alpha, layer + ".ssm_dt.bias"), kernels::Activation::kSoftplus);

  Value y = b.delta({.q = q, .k = k, .v = v, .beta = beta, .dt = dt}, state,
                    {.a = layer + ".ssm_a",
                     .n_head = p.n_head,
                     .n_key_head = p.n_key_head,
                     .key_heads = p.key_heads,
                     .scale = 1 / std::sqrt(static_cast<float>(p.d_k))});
  y = b.rms_norm(y, layer + ".ssm_norm.weight", norm_eps, p.n_head);
  y = b.gated_activation(z, y, kernels::Activation::kSilu);
  return b.linear(y, layer + ".ssm_out.weight", d_model);
}

}  // namespace quire

#include "models/blocks/attention.h"

#include <cmath>

namespace quire {

using graph::ProgramBuilder;
using graph::Value;

Result<float> read_attention_scale(const Keys& keys, const DecoderParams& p) {
  QUIRE_ASSIGN_OR_RETURN(const float scale, keys.number_or("attention.scale", NumberRange::kFinite, 0));
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(p.d_k));
}

graph::Value attention_block(ProgramBuilder& b, const std::string& layer, Value x, const DecoderParams& p,
                             const AttentionSpec& spec) {
  const int64_t q_cols = int64_t{p.n_head} * p.d_k;
  const int64_t k_cols = int64_t{p.n_head_kv} * p.d_k;
  const int64_t v_cols = int64_t{p.n_head_kv} * p.d_v;
  Value q, k, v, gate;
  if (spec.output_gate == OutputGate::kSigmoid) {
    const Value both = b.linear_bias(x, layer + ".attn_q.weight", layer + ".attn_q.bias", 2 * q_cols);
    q = b.slice_heads(both, p.n_head, 0, p.d_k);
    gate = b.slice_heads(both, p.n_head, p.d_k, p.d_k);
    k = b.linear_bias(x, layer + ".attn_k.weight", layer + ".attn_k.bias", k_cols);
    v = b.linear_bias(x, layer + ".attn_v.weight", layer + ".attn_v.bias", v_cols);
  } else if (b.has(layer + ".attn_qkv.weight")) {
    const Value qkv =
        b.linear_bias(x, layer + ".attn_qkv.weight", layer + ".attn_qkv.bias", q_cols + k_cols + v_cols);
    q = b.slice(qkv, 0, q_cols);
    k = b.slice(qkv, q_cols, k_cols);
    v = b.slice(qkv, q_cols + k_cols, v_cols);
  } else {
    q = b.linear_bias(x, layer + ".attn_q.weight", layer + ".attn_q.bias", q_cols);
    k = b.linear_bias(x, layer + ".attn_k.weight", layer + ".attn_k.bias", k_cols);
    v = b.linear_bias(x, layer + ".attn_v.weight", layer + ".attn_v.bias", v_cols);
  }
  if (spec.qk_norm != QkNorm::kNone) {
    const bool per_head = spec.qk_norm == QkNorm::kPerHead;
    q = b.rms_norm(q, layer + ".attn_q_norm.weight", p.norm_eps, per_head ? p.n_head : 1);
    k = b.rms_norm(k, layer + ".attn_k_norm.weight", p.norm_eps, per_head ? p.n_head_kv : 1);
  }
  if (spec.rope != nullptr) {
    q = b.rope(q, *spec.rope, p.n_head, spec.pairs);
    k = b.rope(k, *spec.rope, p.n_head_kv, spec.pairs);
  }
  const std::string sinks = spec.sinks == Sinks::kPerHead ? layer + ".attn_sinks.weight" : "";
  Value mixed = b.attention(q, k, v,
                            {.n_head = p.n_head,
                             .n_head_kv = p.n_head_kv,
                             .d_k = p.d_k,
                             .d_v = p.d_v,
                             .scale = spec.scale,
                             .softcap = spec.softcap,
                             .window = spec.window,
                             .sinks = sinks});
  if (gate.valid()) mixed = b.gated_activation(gate, mixed, kernels::Activation::kSigmoid);
  return b.linear_bias(mixed, layer + ".attn_output.weight", layer + ".attn_output.bias", p.d_model);
}

}  // namespace quire

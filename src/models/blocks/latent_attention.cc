#include "models/blocks/latent_attention.h"

namespace quire {

using graph::Value;

namespace {

constexpr int64_t kMaxRank = 1 << 16;  // far above any model
constexpr int64_t kMaxLatentDim = 1 << 14;

// q_h -> k_b[h] q_h for every head: [n_head * d_plain] -> [n_head * kv_rank].
Value absorb_keys(graph::ProgramBuilder& b, const std::string& layer, Value q, int64_t n_head,
                  const LatentParams& latent) {
  if (b.has(layer + ".attn_k_b.weight"))
    return b.head_linear(q, {.weight = layer + ".attn_k_b.weight", .n_heads = n_head, .n = latent.kv_rank});
  return b.head_linear_transposed(q, {.weight = layer + ".attn_kv_b.weight",
                                      .n_heads = n_head,
                                      .n = latent.kv_rank,
                                      .tensor_rows = latent.d_plain + latent.d_v});
}

// Weighted rows -> each head's values: [n_head * kv_rank] -> [n_head * d_v].
Value expand_values(graph::ProgramBuilder& b, const std::string& layer, Value rows, int64_t n_head,
                    const LatentParams& latent) {
  if (b.has(layer + ".attn_v_b.weight"))
    return b.head_linear(rows, {.weight = layer + ".attn_v_b.weight", .n_heads = n_head, .n = latent.d_v});
  return b.head_linear(rows, {.weight = layer + ".attn_kv_b.weight",
                              .n_heads = n_head,
                              .n = latent.d_v,
                              .first_row = latent.d_plain,
                              .tensor_rows = latent.d_plain + latent.d_v});
}

}  // namespace

Result<LatentParams> read_latent_params(const Keys& keys) {
  LatentParams p;
  QUIRE_ASSIGN_OR_RETURN(p.q_rank, keys.integer_or("attention.q_lora_rank", 0, kMaxRank, 0));
  QUIRE_ASSIGN_OR_RETURN(p.kv_rank, keys.integer("attention.kv_lora_rank", 1, kMaxRank));
  QUIRE_ASSIGN_OR_RETURN(p.d_rope, keys.integer("rope.dimension_count", 2, kMaxLatentDim));
  const bool absorbed = keys.contains("attention.key_length_mla");
  QUIRE_ASSIGN_OR_RETURN(const int64_t d_k,
                         keys.integer(absorbed ? "attention.key_length_mla" : "attention.key_length",
                                      p.d_rope + 1, kMaxLatentDim));
  QUIRE_ASSIGN_OR_RETURN(
      p.d_v,
      keys.integer(absorbed ? "attention.value_length_mla" : "attention.value_length", 1, kMaxLatentDim));
  p.d_plain = d_k - p.d_rope;
  return p;
}

graph::Value latent_attention_block(graph::ProgramBuilder& b, const std::string& layer, Value x,
                                    const DecoderParams& p, const LatentParams& latent,
                                    const LatentSpec& spec) {
  const int64_t n_head = p.n_head;
  const auto rotate = [&](Value v, int64_t n) {
    return b.rope(v, *spec.rope, n, kernels::RopePairs::kAdjacent);
  };
  Value q = x;
  if (latent.q_rank > 0) {
    q = b.linear(x, layer + ".attn_q_a.weight", latent.q_rank);
    q = b.rms_norm(q, layer + ".attn_q_a_norm.weight", p.norm_eps);
  }
  const std::string q_tensor = layer + (latent.q_rank > 0 ? ".attn_q_b.weight" : ".attn_q.weight");
  q = b.linear(q, q_tensor, n_head * (latent.d_plain + latent.d_rope));
  const Value kv = b.linear(x, layer + ".attn_kv_a_mqa.weight", latent.kv_rank + latent.d_rope);

  const Value c = b.rms_norm(b.slice(kv, 0, latent.kv_rank), layer + ".attn_kv_a_norm.weight", p.norm_eps);
  const Value rows = b.join_heads(c, rotate(b.slice(kv, latent.kv_rank, latent.d_rope), 1), 1);

  const Value q_c = absorb_keys(b, layer, b.slice_heads(q, n_head, 0, latent.d_plain), n_head, latent);
  const Value q_rope = rotate(b.slice_heads(q, n_head, latent.d_plain, latent.d_rope), n_head);
  const Value mixed = b.latent_attention(b.join_heads(q_c, q_rope, n_head), rows,
                                         {.n_head = p.n_head,
                                          .n_head_kv = 1,
                                          .d_k = static_cast<int32_t>(latent.kv_rank + latent.d_rope),
                                          .d_v = static_cast<int32_t>(latent.kv_rank),
                                          .scale = spec.scale});
  const Value values = expand_values(b, layer, mixed, n_head, latent);
  return b.linear_bias(values, layer + ".attn_output.weight", layer + ".attn_output.bias", p.d_model);
}

}  // namespace quire

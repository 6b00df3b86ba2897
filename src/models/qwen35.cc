// qwen35, qwen35moe, qwen3next: three layers of gated delta net to one of attention whose output is gated and
// of whose heads a part rotates (Qwen Team 2025, "Qwen3-Next"). They differ in which key head a head of the
// delta net reads, and in the feed-forward: dense, or experts beside one that every row sees. Text only: for
// text the rotation in sections is the one of halves.
#include <cmath>
#include <vector>

#include "models/blocks/decoder.h"
#include "models/blocks/delta_net.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {
namespace {

constexpr std::string_view kRecurrentLayers = "attention.recurrent_layers";

// By layer, whether it is one of delta net.
Result<std::vector<bool>> read_recurrent_layers(const Keys& keys, int32_t n_layer) {
  if (keys.contains(kRecurrentLayers))
    return keys.metadata().get_per_layer<bool>(keys.full(kRecurrentLayers), static_cast<size_t>(n_layer));
  QUIRE_ASSIGN_OR_RETURN(const int64_t interval, keys.integer_or("full_attention_interval", 1, n_layer, 4));
  std::vector<bool> recurrent;
  for (int64_t il = 0; il < n_layer; ++il) recurrent.push_back((il + 1) % interval != 0);
  return recurrent;
}

Result<graph::Value> build(const Keys& keys, kernels::KeyHeads key_heads, DecoderSpec spec,
                           const BuildOptions& options, graph::ProgramBuilder& b) {
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(DeltaNetParams delta_net, read_delta_net(keys));
  QUIRE_ASSIGN_OR_RETURN(const std::vector<bool> recurrent, read_recurrent_layers(keys, p.n_layer));
  delta_net.key_heads = key_heads;
  if (keys.contains("expert_count")) {
    QUIRE_ASSIGN_OR_RETURN(spec.moe, read_moe(keys, p, {.normalise = kernels::GateWeights::kSumToOne}));
  }
  const AttentionSpec attention{.rope = &rope,
                                .qk_norm = QkNorm::kPerHead,
                                .output_gate = OutputGate::kSigmoid,
                                .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder_of(b, p, options, spec, [&](const std::string& layer, int32_t il, graph::Value x) {
    return recurrent[static_cast<size_t>(il)] ? delta_net_block(b, layer, x, p.d_model, delta_net, p.norm_eps)
                                              : attention_block(b, layer, x, p, attention);
  });
}

}  // namespace

Result<graph::Value> build_qwen35(const Metadata& metadata, const BuildOptions& options,
                                  graph::ProgramBuilder& b) {
  return build(Keys(metadata, "qwen35"), kernels::KeyHeads::kCyclic, {.ffn_norm = "post_attention_norm"},
               options, b);
}

Result<graph::Value> build_qwen35moe(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& b) {
  return build(Keys(metadata, "qwen35moe"), kernels::KeyHeads::kCyclic, {.ffn_norm = "post_attention_norm"},
               options, b);
}

Result<graph::Value> build_qwen3next(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& b) {
  return build(Keys(metadata, "qwen3next"), kernels::KeyHeads::kBlocked, {.ffn_norm = "post_attention_norm"},
               options, b);
}

}  // namespace quire

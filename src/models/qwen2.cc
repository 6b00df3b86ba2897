// qwen2: llama's shape with biases on q, k and v and half-rotating rope (Yang et al. 2024, "Qwen2 Technical
// Report").
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_qwen2(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "qwen2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{.rope = &rope, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model);
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    Value h = b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps);
    h = attention_block(b, layer, h, p, attention);
    x = b.add(x, h);
    h = b.rms_norm(x, layer + ".ffn_norm.weight", p.norm_eps);
    h = gated_ffn(b, layer, h, p.d_model, p.n_ff, kernels::Activation::kSilu);
    x = b.add(x, h);
  }
  return lm_head(b, x, p, options);
}

}  // namespace quire

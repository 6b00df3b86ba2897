// granite: llama's shape with four scalars from the file: on embeddings, scores, residual branches and logits
// (IBM Granite Team 2024, "Granite 3.0 Language Models").
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_granite(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "granite");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(float scale, keys.get_or<float>("attention.scale", 0.0f));
  if (scale == 0) scale = 1 / std::sqrt(static_cast<float>(p.d_k));
  QUIRE_ASSIGN_OR_RETURN(const float embedding_scale, keys.get_or<float>("embedding_scale", 1.0f));
  QUIRE_ASSIGN_OR_RETURN(const float residual_scale, keys.get_or<float>("residual_scale", 1.0f));
  QUIRE_ASSIGN_OR_RETURN(const float logit_divisor, keys.get_or<float>("logit_scale", 1.0f));
  if (!(std::fabs(logit_divisor) > 0)) {
    return make_error(ErrorCode::kCorrupt, "granite.logit_scale is {}, expected a number other than 0",
                      logit_divisor);
  }
  const AttentionSpec attention{.rope = &rope, .pairs = kernels::RopePairs::kAdjacent, .scale = scale};

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model, embedding_scale);
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    Value h = b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps);
    h = attention_block(b, layer, h, p, attention);
    x = b.add(x, h, residual_scale);
    h = b.rms_norm(x, layer + ".ffn_norm.weight", p.norm_eps);
    h = gated_ffn(b, layer, h, p.d_model, p.n_ff, kernels::Activation::kSilu);
    x = b.add(x, h, residual_scale);
  }
  return lm_head(b, x, p, options, {.logit_scale = 1 / logit_divisor});
}

}  // namespace quire

// llama: pre-norm decoder with rotary attention and SwiGLU (Touvron et al. 2023). Also Mistral, SmolLM, Yi
// and the many families whose files carry this architecture. q and k rows are stored so that neighbouring
// values rotate.
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_llama(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "llama");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_expert, keys.integer_or("expert_count", 0, 1 << 20, 0));
  if (n_expert > 0) {
    return make_error(ErrorCode::kUnsupported,
                      "llama.expert_count is {}: mixture-of-experts models are not supported yet", n_expert);
  }
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(float scale, keys.get_or<float>("attention.scale", 0.0f));
  if (scale == 0) scale = 1 / std::sqrt(static_cast<float>(p.d_k));

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model);
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    Value h = b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps);
    h = attention_block(b, layer, h, p,
                        {.rope = &rope, .pairs = kernels::RopePairs::kAdjacent, .scale = scale});
    x = b.add(x, h);
    h = b.rms_norm(x, layer + ".ffn_norm.weight", p.norm_eps);
    h = gated_ffn(b, layer, h, p.d_model, p.n_ff, kernels::Activation::kSilu);
    x = b.add(x, h);
  }
  return lm_head(b, x, p, options);
}

}  // namespace quire

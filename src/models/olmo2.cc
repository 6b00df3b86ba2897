// olmo2: no norms before the branches, norms on their outputs, and on q and k over the full width (OLMo Team
// 2024, "2 OLMo 2 Furious").
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_olmo2(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "olmo2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kFull, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model);
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    Value h = attention_block(b, layer, x, p, attention);
    h = b.rms_norm(h, layer + ".post_attention_norm.weight", p.norm_eps);
    x = b.add(x, h);
    h = gated_ffn(b, layer, x, p.d_model, p.n_ff, kernels::Activation::kSilu);
    h = b.rms_norm(h, layer + ".post_ffw_norm.weight", p.norm_eps);
    x = b.add(x, h);
  }
  return lm_head(b, x, p, options);
}

}  // namespace quire

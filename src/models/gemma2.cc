// gemma2: norms before and after each branch, soft-capped scores and logits, every other layer a sliding
// window (Gemma Team 2024). Norm weights in the file already include the "+ 1".
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_gemma2(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "gemma2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const int64_t window,
                         keys.integer_or("attention.sliding_window", 1, int64_t{1} << 30, 4096));
  QUIRE_ASSIGN_OR_RETURN(const float attention_cap, keys.get_or<float>("attn_logit_softcapping", 50.0f));
  QUIRE_ASSIGN_OR_RETURN(const float logit_cap, keys.get_or<float>("final_logit_softcapping", 30.0f));
  // The file has no key for the scale of q; the 27B model divides by the width per head instead of the head
  // size.
  const bool is_27b = p.n_layer == 46;
  const auto scale_base = static_cast<float>(is_27b ? p.d_model / p.n_head : p.d_k);

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model, std::sqrt(static_cast<float>(p.d_model)));
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    const bool windowed = il % 2 == 0;
    Value h = b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps);
    h = attention_block(b, layer, h, p,
                        {.rope = &rope,
                         .scale = 1 / std::sqrt(scale_base),
                         .softcap = attention_cap,
                         .window = windowed ? static_cast<int32_t>(window) : 0});
    h = b.rms_norm(h, layer + ".post_attention_norm.weight", p.norm_eps);
    x = b.add(x, h);
    h = b.rms_norm(x, layer + ".ffn_norm.weight", p.norm_eps);
    h = gated_ffn(b, layer, h, p.d_model, p.n_ff, kernels::Activation::kGeluTanh);
    h = b.rms_norm(h, layer + ".post_ffw_norm.weight", p.norm_eps);
    x = b.add(x, h);
  }
  return lm_head(b, x, p, options, {.softcap = logit_cap});
}

}  // namespace quire

// gemma3: gemma2 with norms on q and k in place of the score cap; five windowed layers to one full one, the
// two kinds with rope bases of their own (Gemma Team 2025). Text part only.
#include <cmath>

#include "models/blocks/attention.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/ffn.h"
#include "models/blocks/head.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

using graph::Value;

Result<Value> build_gemma3(const Metadata& metadata, const BuildOptions& options, graph::ProgramBuilder& b) {
  const Keys keys(metadata, "gemma3");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(RopeParams full, read_rope_params(keys, p.d_k, p.n_ctx_train));
  if (!keys.contains("rope.freq_base")) full.base = 1e6f;
  RopeParams local = full;
  local.scaling = RopeScaling::kNone;
  QUIRE_ASSIGN_OR_RETURN(local.base, keys.get_or<float>("rope.freq_base_swa", 10000.0f));
  QUIRE_ASSIGN_OR_RETURN(const std::vector<float> divisors, read_rope_divisors(full, options, b));
  const graph::RopeSpec rope_full = make_rope(full, divisors);
  const graph::RopeSpec rope_local = make_rope(local, {});
  QUIRE_ASSIGN_OR_RETURN(const int64_t window,
                         keys.integer_or("attention.sliding_window", 1, int64_t{1} << 30, 1024));
  QUIRE_ASSIGN_OR_RETURN(const int64_t period,
                         keys.integer_or("attention.sliding_window_pattern", 1, 4096, 6));
  QUIRE_ASSIGN_OR_RETURN(const float logit_cap, keys.get_or<float>("final_logit_softcapping", 0.0f));
  const bool is_27b = p.n_layer == 62;
  const auto scale_base = static_cast<float>(is_27b ? p.d_model / p.n_head : p.d_k);

  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model, std::sqrt(static_cast<float>(p.d_model)));
  for (int32_t il = 0; il < p.n_layer; ++il) {
    const std::string layer = layer_name(b, il);
    tap_hidden(b, x, il, options);
    const bool windowed = il % period < period - 1;
    Value h = b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps);
    h = attention_block(b, layer, h, p,
                        {.rope = windowed ? &rope_local : &rope_full,
                         .qk_norm = QkNorm::kPerHead,
                         .scale = 1 / std::sqrt(scale_base),
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

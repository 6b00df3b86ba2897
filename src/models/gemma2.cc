// gemma2: norms before and after each branch, soft-capped scores and logits, every other layer a sliding
// window (Gemma Team 2024). Norm weights in the file already include the "+ 1".
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/blocks/window.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_gemma2(const Metadata& metadata, const BuildOptions& options,
                                  graph::ProgramBuilder& b) {
  const Keys keys(metadata, "gemma2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const WindowParams windows,
                         read_windows(keys, p.n_layer, {.positions = 4096, .period = 2}));
  QUIRE_ASSIGN_OR_RETURN(const float attention_cap,
                         keys.number_or("attn_logit_softcapping", NumberRange::kNotNegative, 50));
  QUIRE_ASSIGN_OR_RETURN(const float logit_cap,
                         keys.number_or("final_logit_softcapping", NumberRange::kNotNegative, 30));
  // The file has no key for the scale of q; the 27B model divides by the width per head instead of the head
  // size.
  const bool is_27b = p.n_layer == 46;
  const float scale_base =
      is_27b ? static_cast<float>(p.d_model) / static_cast<float>(p.n_head) : static_cast<float>(p.d_k);

  const DecoderSpec spec{.norms = NormPlacement::kBoth,
                         .activation = kernels::Activation::kGeluTanh,
                         .embedding_scale = std::sqrt(static_cast<float>(p.d_model)),
                         .head = {.softcap = logit_cap}};
  return decoder(b, p, options, spec, [&](int32_t il) {
    return AttentionSpec{.rope = &rope,
                         .scale = 1 / std::sqrt(scale_base),
                         .softcap = attention_cap,
                         .window = windows.of(il)};
  });
}

}  // namespace quire

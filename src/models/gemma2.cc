// gemma2: norms before and after each branch, soft-capped scores and logits, every other layer a sliding
// window (Gemma Team 2024). Norm weights in the file already include the "+ 1".
#include "models/blocks/decoder.h"
#include "models/blocks/gemma.h"
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
  const float scale = gemma_attention_scale(p, 46);
  return decoder(b, p, options, gemma_decoder(p, logit_cap), [&](int32_t il) {
    return AttentionSpec{.rope = &rope, .scale = scale, .softcap = attention_cap, .window = windows.of(il)};
  });
}

}  // namespace quire

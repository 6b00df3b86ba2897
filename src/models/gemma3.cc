// gemma3: gemma2 with norms on q and k in place of the score cap; five windowed layers to one full one, the
// two kinds with rope bases of their own (Gemma Team 2025). Text part only.
#include "models/blocks/decoder.h"
#include "models/blocks/gemma.h"
#include "models/blocks/rope.h"
#include "models/blocks/window.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_gemma3(const Metadata& metadata, const BuildOptions& options,
                                  graph::ProgramBuilder& b) {
  const Keys keys(metadata, "gemma3");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(RopeParams full, read_rope_params(keys, p.d_k, p.n_ctx_train));
  // The family's own base: some files that leave the key out are not of the general default, 10000.
  if (!keys.contains("rope.freq_base")) full.base = 1e6f;
  QUIRE_ASSIGN_OR_RETURN(const RopeParams local, read_window_rope_params(keys, full, 10000));
  QUIRE_ASSIGN_OR_RETURN(const std::vector<float> divisors, read_rope_divisors(full, options, b));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope_full, make_rope(full, divisors));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope_local, make_rope(local, {}));
  QUIRE_ASSIGN_OR_RETURN(const WindowParams windows,
                         read_windows(keys, p.n_layer, {.positions = 1024, .period = 6}));
  QUIRE_ASSIGN_OR_RETURN(const float logit_cap,
                         keys.number_or("final_logit_softcapping", NumberRange::kNotNegative, 0));
  const float scale = gemma_attention_scale(p, 62);
  return decoder(b, p, options, gemma_decoder(p, logit_cap), [&](int32_t il) {
    return AttentionSpec{.rope = windows.of(il) > 0 ? &rope_local : &rope_full,
                         .qk_norm = QkNorm::kPerHead,
                         .scale = scale,
                         .window = windows.of(il)};
  });
}

}  // namespace quire

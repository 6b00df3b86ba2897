// gemma3: gemma2 with norms on q and k in place of the score cap; five windowed layers to one full one, the
// two kinds with rope bases of their own (Gemma Team 2025). Text part only.
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_gemma3(const Metadata& metadata, const BuildOptions& options,
                                  graph::ProgramBuilder& b) {
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

  const DecoderSpec spec{.norms = NormPlacement::kBoth,
                         .activation = kernels::Activation::kGeluTanh,
                         .embedding_scale = std::sqrt(static_cast<float>(p.d_model)),
                         .head = {.softcap = logit_cap}};
  return decoder(b, p, options, spec, [&](int32_t il) {
    const bool windowed = il % period < period - 1;
    return AttentionSpec{.rope = windowed ? &rope_local : &rope_full,
                         .qk_norm = QkNorm::kPerHead,
                         .scale = 1 / std::sqrt(scale_base),
                         .window = windowed ? static_cast<int32_t>(window) : 0};
  });
}

}  // namespace quire

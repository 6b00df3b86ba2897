// llama: pre-norm decoder with rotary attention and SwiGLU (Touvron et al. 2023). Also Mistral, SmolLM, Yi
// and the many families whose files carry this architecture; with experts, Mixtral (Jiang et al. 2024). q and
// k rows are stored so that neighbouring values rotate. Every layer is full: converters write no window for
// this architecture (early Mistral models were trained with one), and a window in the metadata is ignored, as
// other readers of these files do.
#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_llama(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "llama");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  const AttentionSpec attention{.rope = &rope, .pairs = kernels::RopePairs::kAdjacent, .scale = scale};
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_expert, keys.integer_or("expert_count", 0, kernels::kMaxExperts, 0));
  DecoderSpec spec;
  if (n_expert > 0) {
    QUIRE_ASSIGN_OR_RETURN(spec.moe, read_moe(keys, p, {.normalise = kernels::GateWeights::kSumToOne}));
  }
  return decoder(b, p, options, spec, [&](int32_t) { return attention; });
}

}  // namespace quire

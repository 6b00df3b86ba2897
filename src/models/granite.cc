// granite: llama's shape with four scalars from the file: on embeddings, scores, residual branches and logits
// (IBM Granite Team 2024, "Granite 3.0 Language Models").
#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_granite(const Metadata& metadata, const BuildOptions& options,
                                   graph::ProgramBuilder& b) {
  const Keys keys(metadata, "granite");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  QUIRE_ASSIGN_OR_RETURN(const float embedding_scale,
                         keys.number_or("embedding_scale", NumberRange::kFinite, 1));
  QUIRE_ASSIGN_OR_RETURN(const float residual_scale,
                         keys.number_or("residual_scale", NumberRange::kFinite, 1));
  QUIRE_ASSIGN_OR_RETURN(const float logit_divisor, keys.number_or("logit_scale", NumberRange::kPositive, 1));
  const AttentionSpec attention{.rope = &rope, .pairs = kernels::RopePairs::kAdjacent, .scale = scale};
  const DecoderSpec spec{.embedding_scale = embedding_scale,
                         .residual_scale = residual_scale,
                         .head = {.logit_scale = 1 / logit_divisor}};
  return decoder(b, p, options, spec, [&](int32_t) { return attention; });
}

}  // namespace quire

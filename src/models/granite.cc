// granite: llama's shape with four scalars from the file: on embeddings, scores, residual branches and logits
// (IBM Granite Team 2024, "Granite 3.0 Language Models"). granitemoe is the same with experts, whose weights
// sum to one; its shared expert, where there is one, has no gate.
#include "models/blocks/granite.h"
#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {
namespace {

enum class FeedForward : uint8_t { kDense, kExperts };

Result<graph::Value> build(const Keys& keys, FeedForward feed_forward, const BuildOptions& options,
                           graph::ProgramBuilder& b) {
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  const AttentionSpec attention{.rope = &rope, .pairs = kernels::RopePairs::kAdjacent, .scale = scale};
  QUIRE_ASSIGN_OR_RETURN(DecoderSpec spec, read_granite_scalars(keys));
  if (feed_forward == FeedForward::kExperts) {
    QUIRE_ASSIGN_OR_RETURN(spec.moe, read_moe(keys, p, {.normalise = kernels::GateWeights::kSumToOne}));
  }
  return decoder(b, p, options, spec, [&](int32_t) { return attention; });
}

}  // namespace

Result<graph::Value> build_granite(const Metadata& metadata, const BuildOptions& options,
                                   graph::ProgramBuilder& b) {
  return build(Keys(metadata, "granite"), FeedForward::kDense, options, b);
}

Result<graph::Value> build_granitemoe(const Metadata& metadata, const BuildOptions& options,
                                      graph::ProgramBuilder& b) {
  return build(Keys(metadata, "granitemoe"), FeedForward::kExperts, options, b);
}

}  // namespace quire

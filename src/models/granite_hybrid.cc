// granitehybrid: granite's scalars and feed-forward, dense or with experts, around layers of Mamba 2 and a
// few of attention, which rotates only where the file says so (IBM Granite Team 2025, "Granite 4.0").
#include "models/blocks/decoder.h"
#include "models/blocks/granite.h"
#include "models/blocks/hybrid_params.h"
#include "models/blocks/mamba2.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_granitehybrid(const Metadata& metadata, const BuildOptions& options,
                                         graph::ProgramBuilder& b) {
  const Keys keys(metadata, "granitehybrid");
  QUIRE_ASSIGN_OR_RETURN(const HybridParams hybrid, read_hybrid_params(keys));
  const DecoderParams& p = hybrid.decoder;
  QUIRE_ASSIGN_OR_RETURN(const Mamba2Params ssm, read_mamba2(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const bool rotates, keys.get_or<bool>("rope.scaling.finetuned", false));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  QUIRE_ASSIGN_OR_RETURN(DecoderSpec spec, read_granite_scalars(keys));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_expert, keys.integer_or("expert_count", 0, kernels::kMaxExperts, 0));
  if (n_expert > 0) {
    QUIRE_ASSIGN_OR_RETURN(spec.moe, read_moe(keys, p, {.normalise = kernels::GateWeights::kSumToOne}));
  }
  const AttentionSpec attention{
      .rope = rotates ? &rope : nullptr, .pairs = kernels::RopePairs::kAdjacent, .scale = scale};
  return decoder_of(b, p, options, spec, [&](const std::string& layer, int32_t il, graph::Value x) {
    return hybrid.attends(il) ? attention_block(b, layer, x, p, attention)
                              : mamba2_block(b, layer, x, p.d_model, ssm, p.norm_eps);
  });
}

}  // namespace quire

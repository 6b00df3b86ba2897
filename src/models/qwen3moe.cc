// qwen3moe: qwen3's attention; the weights of the chosen experts, of a softmax over all, are made to sum to
// one (Yang et al. 2025, "Qwen3 Technical Report").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_qwen3moe(const Metadata& metadata, const BuildOptions& options,
                                    graph::ProgramBuilder& b) {
  const Keys keys(metadata, "qwen3moe");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const MoeSpec moe,
                         read_moe(keys, p, {.normalise = kernels::GateWeights::kSumToOne}));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kPerHead, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {.moe = moe}, [&](int32_t) { return attention; });
}

}  // namespace quire

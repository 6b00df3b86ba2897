// qwen2moe: qwen2's attention; a softmax over all experts weights those chosen as it is, and an expert that
// every row sees is added under a gate of its own (Qwen Team 2024, "Qwen1.5-MoE"; Yang et al. 2024, "Qwen2
// Technical Report").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_qwen2moe(const Metadata& metadata, const BuildOptions& options,
                                    graph::ProgramBuilder& b) {
  const Keys keys(metadata, "qwen2moe");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(MoeSpec moe, read_moe(keys, p, {}));
  if (moe.n_ff_shared == 0) moe.n_ff_shared = p.n_ff;
  const AttentionSpec attention{.rope = &rope, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {.moe = moe}, [&](int32_t) { return attention; });
}

}  // namespace quire

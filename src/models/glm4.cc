// glm4: norms around every branch, half of each head rotates by neighbouring values, gate and up in one
// matrix (GLM Team 2024, "ChatGLM: A Family of Large Language Models from GLM-130B to GLM-4 All Tools";
// GLM-4-0414).
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_glm4(const Metadata& metadata, const BuildOptions& options,
                                graph::ProgramBuilder& b) {
  const Keys keys(metadata, "glm4");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{.rope = &rope,
                                .pairs = kernels::RopePairs::kAdjacent,
                                .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {.norms = NormPlacement::kBoth}, [&](int32_t) { return attention; });
}

}  // namespace quire

// olmoe: llama's shape with half-rotating rope and norms on q and k over the full width; a softmax over all
// experts weights those chosen as it is (Muennighoff et al. 2024, "OLMoE").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_olmoe(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "olmoe");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const MoeSpec moe, read_moe(keys, p, {}));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kFull, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {.moe = moe}, [&](int32_t) { return attention; });
}

}  // namespace quire

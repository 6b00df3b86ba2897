// olmo2: no norms before the branches, norms on their outputs, and on q and k over the full width (OLMo Team
// 2024, "2 OLMo 2 Furious").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_olmo2(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "olmo2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kFull, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {.norms = NormPlacement::kAfter}, [&](int32_t) { return attention; });
}

}  // namespace quire

// qwen2: llama's shape with biases on q, k and v and half-rotating rope (Yang et al. 2024, "Qwen2 Technical
// Report").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_qwen2(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "qwen2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{.rope = &rope, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {}, [&](int32_t) { return attention; });
}

}  // namespace quire

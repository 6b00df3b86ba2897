// qwen3: qwen2 without biases, with an RMS norm on every head of q and k (Yang et al. 2025, "Qwen3 Technical
// Report").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_qwen3(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "qwen3");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kPerHead, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder(b, p, options, {}, [&](int32_t) { return attention; });
}

}  // namespace quire

// falcon-h1: attention and a Mamba 2 scan read the same normed rows side by side in every layer, and their
// answers are added (Zuo et al. 2025, "Falcon-H1"). The multipliers of its configuration are in the weights.
#include "models/blocks/decoder.h"
#include "models/blocks/mamba2.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_falcon_h1(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& b) {
  const Keys keys(metadata, "falcon-h1");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  QUIRE_ASSIGN_OR_RETURN(Mamba2Params ssm, read_mamba2(keys));
  ssm.norm = ScanNorm::kWhereThere;
  const AttentionSpec attention{.rope = &rope, .scale = scale};
  return decoder_of(b, p, options, {}, [&](const std::string& layer, int32_t, graph::Value x) {
    const graph::Value attended = attention_block(b, layer, x, p, attention);
    const graph::Value scanned = mamba2_block(b, layer, x, p.d_model, ssm, p.norm_eps);
    return b.add(attended, scanned);
  });
}

}  // namespace quire

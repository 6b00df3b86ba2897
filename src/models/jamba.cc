// jamba: layers of Mamba 1 with norms on what selects, some of attention without rotation between them, and
// experts in place of the feed-forward where a layer has a router (Lieber et al. 2024, "Jamba").
#include "models/blocks/decoder.h"
#include "models/blocks/hybrid_params.h"
#include "models/blocks/mamba.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_jamba(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "jamba");
  QUIRE_ASSIGN_OR_RETURN(const HybridParams hybrid, read_hybrid_params(keys));
  const DecoderParams& p = hybrid.decoder;
  QUIRE_ASSIGN_OR_RETURN(MambaParams ssm, read_mamba(keys));
  ssm.norm = SelectionNorm::kWeights;
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  DecoderSpec spec{.moe_layers = MoeLayers::kWithRouter};
  if (keys.contains("expert_count")) {
    QUIRE_ASSIGN_OR_RETURN(spec.moe, read_moe(keys, p, {}));
  }
  return decoder_of(b, p, options, spec, [&](const std::string& layer, int32_t il, graph::Value x) {
    return hybrid.attends(il) ? attention_block(b, layer, x, p, {.scale = scale})
                              : mamba_block(b, layer, x, p.d_model, ssm, p.norm_eps);
  });
}

}  // namespace quire

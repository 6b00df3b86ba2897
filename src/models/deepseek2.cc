// deepseek2: latent attention and many small experts beside shared ones, after a few dense layers
// (DeepSeek-AI 2024, "DeepSeek-V2" and "DeepSeek-V3"). Also R1, Kimi K2 and others of this shape. V2 routes
// by a softmax; V3 by sigmoids with a bias for the choice, among the best groups of experts. The Lite models
// project queries at once.
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/latent_attention.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {
namespace {

struct Rotation {
  graph::RopeSpec rope;
  float scale;  // of q . k
};

// YaRN's magnitude, which other families put on cos and sin, is in the scale of scores here: m^2 with
// m = 1 + 0.1 mscale_all_dim ln(factor), of which the file holds 0.1 mscale_all_dim.
Result<Rotation> read_rotation(const Keys& keys, const DecoderParams& p, const LatentParams& latent) {
  QUIRE_ASSIGN_OR_RETURN(const RopeParams params, read_rope_params(keys, latent.d_rope, p.n_ctx_train));
  Rotation rotation;
  QUIRE_ASSIGN_OR_RETURN(rotation.rope, make_rope(params, {}));
  float magnitude = 1;
  if (params.scaling == RopeScaling::kYarn && params.yarn_log_multiplier > 0) {
    rotation.rope.magnitude = 1;
    magnitude = 1 + params.yarn_log_multiplier * std::log(params.factor);
  }
  rotation.scale = magnitude * magnitude / std::sqrt(static_cast<float>(latent.d_plain + latent.d_rope));
  return rotation;
}

Result<MoeSpec> read_experts(const Keys& keys, const DecoderParams& p) {
  QUIRE_ASSIGN_OR_RETURN(MoeSpec moe, read_moe(keys, p, {}));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_shared,
                         keys.integer_or("expert_shared_count", 0, kernels::kMaxExperts, 0));
  moe.n_ff_shared = n_shared * moe.n_ff;
  return moe;
}

}  // namespace

Result<graph::Value> build_deepseek2(const Metadata& metadata, const BuildOptions& options,
                                     graph::ProgramBuilder& b) {
  const Keys keys(metadata, "deepseek2");
  if (keys.contains("attention.temperature_scale")) {
    return make_error(ErrorCode::kUnsupported, "{} is there: scores scaled by position are not supported",
                      keys.full("attention.temperature_scale"));
  }
  QUIRE_ASSIGN_OR_RETURN(DecoderParams p, read_decoder_params(keys));
  // Draft layers stand behind the others and are not run.
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_draft, keys.integer_or("nextn_predict_layers", 0, p.n_layer - 1, 0));
  p.n_layer -= static_cast<int32_t>(n_draft);
  QUIRE_ASSIGN_OR_RETURN(const LatentParams latent, read_latent_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const Rotation rotation, read_rotation(keys, p, latent));
  QUIRE_ASSIGN_OR_RETURN(const MoeSpec moe, read_experts(keys, p));
  return decoder_of(b, p, options, {.moe = moe}, [&](const std::string& layer, int32_t, graph::Value x) {
    return latent_attention_block(b, layer, x, p, latent, {.rope = &rotation.rope, .scale = rotation.scale});
  });
}

}  // namespace quire

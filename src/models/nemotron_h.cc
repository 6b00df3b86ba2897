// nemotron_h: a layer is one thing, Mamba 2, attention without rotation, or a feed-forward with squared ReLU
// and no gate; the file says which by the layer's sizes (NVIDIA 2025, "Nemotron-H").
#include "models/blocks/decoder.h"
#include "models/blocks/hybrid_params.h"
#include "models/blocks/mamba2.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_nemotron_h(const Metadata& metadata, const BuildOptions& options,
                                      graph::ProgramBuilder& b) {
  const Keys keys(metadata, "nemotron_h");
  QUIRE_ASSIGN_OR_RETURN(const HybridParams hybrid, read_hybrid_params(keys));
  const DecoderParams& p = hybrid.decoder;
  QUIRE_ASSIGN_OR_RETURN(const Mamba2Params ssm, read_mamba2(keys));
  QUIRE_ASSIGN_OR_RETURN(const float scale, read_attention_scale(keys, p));
  const auto feed_forward = [&](const std::string& layer, graph::Value x) {
    const graph::Value up = b.linear_bias(x, layer + ".ffn_up.weight", layer + ".ffn_up.bias", p.n_ff);
    return b.linear_bias(b.activation(up, kernels::Activation::kReluSquared), layer + ".ffn_down.weight",
                         layer + ".ffn_down.bias", p.d_model);
  };
  return decoder_of(b, p, options, {.ffn = Ffn::kNone},
                    [&](const std::string& layer, int32_t il, graph::Value x) {
                      if (hybrid.attends(il)) return attention_block(b, layer, x, p, {.scale = scale});
                      if (hybrid.n_ff[static_cast<size_t>(il)] > 0) return feed_forward(layer, x);
                      return mamba2_block(b, layer, x, p.d_model, ssm, p.norm_eps);
                    });
}

}  // namespace quire

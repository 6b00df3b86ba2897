// lfm2: short gated convolutions, and attention in a few layers; the norm before the head is named after the
// embedding (Liquid AI 2025, "LFM2").
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/hybrid_params.h"
#include "models/blocks/rope.h"
#include "models/families.h"

namespace quire {
namespace {

using graph::Value;

// c * conv(b * x), without activation.
Value short_conv(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                 int64_t n_taps) {
  const Value projected = b.linear(x, layer + ".shortconv.in_proj.weight", 3 * d_model);
  const Value in = b.slice(projected, 0, d_model);
  const Value out = b.slice(projected, d_model, d_model);
  const Value rows = b.slice(projected, 2 * d_model, d_model);
  const Value mixed =
      b.causal_conv(b.gated_activation(in, rows, kernels::Activation::kIdentity), b.state_layer(),
                    {.weight = layer + ".shortconv.conv.weight",
                     .n_taps = n_taps,
                     .activation = kernels::ConvActivation::kNone});
  return b.linear(b.gated_activation(out, mixed, kernels::Activation::kIdentity),
                  layer + ".shortconv.out_proj.weight", d_model);
}

}  // namespace

Result<graph::Value> build_lfm2(const Metadata& metadata, const BuildOptions& options,
                                graph::ProgramBuilder& b) {
  const Keys keys(metadata, "lfm2");
  QUIRE_ASSIGN_OR_RETURN(const HybridParams hybrid, read_hybrid_params(keys));
  const DecoderParams& p = hybrid.decoder;
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_taps, keys.integer("shortconv.l_cache", 1, kernels::kMaxConvTaps));
  const AttentionSpec attention{
      .rope = &rope, .qk_norm = QkNorm::kPerHead, .scale = 1 / std::sqrt(static_cast<float>(p.d_k))};
  return decoder_of(b, p, options, {.head = {.norm = "token_embd_norm"}},
                    [&](const std::string& layer, int32_t il, Value x) {
                      return hybrid.attends(il) ? attention_block(b, layer, x, p, attention)
                                                : short_conv(b, layer, x, p.d_model, n_taps);
                    });
}

}  // namespace quire

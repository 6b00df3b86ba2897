#include "models/blocks/decoder.h"

#include <fmt/format.h>

#include <string>

#include "models/blocks/ffn.h"

namespace quire {

using graph::Value;
using kernels::ActivationPlanes;

namespace {

// Whether the vocabulary's matrix holds more values than the matrices of all layers. Each of those has a side
// of d_model, as has the vocabulary's, so that the other sides are compared.
bool vocabulary_is_most(const DecoderParams& p, const std::optional<MoeSpec>& moe) {
  const int64_t attention = (int64_t{p.n_head} + p.n_head_kv) * (int64_t{p.d_k} + p.d_v);
  const int64_t n_dense = moe ? moe->n_dense : p.n_layer;
  const int64_t experts = moe ? moe->route.n_expert * moe->n_ff + moe->n_ff_shared : 0;
  return p.n_vocab > p.n_layer * attention + 3 * (n_dense * p.n_ff + (p.n_layer - n_dense) * experts);
}

}  // namespace

graph::Value decoder(graph::ProgramBuilder& b, const DecoderParams& p, const BuildOptions& options,
                     const DecoderSpec& spec, FunctionRef<AttentionSpec(int32_t il)> attention_of) {
  // Layers that are small beside the vocabulary lose too much to one plane (docs/numerics.md, "Two planes").
  const bool two_planes = vocabulary_is_most(p, spec.moe);
  return decoder_of(b, p, options, spec, [&](const std::string& layer, int32_t il, Value x) {
    const ActivationPlanes layers_own = b.planes();
    if (two_planes) b.set_planes(ActivationPlanes::kTwo);
    const Value y = attention_block(b, layer, x, p, attention_of(il));
    b.set_planes(layers_own);
    return y;
  });
}

graph::Value decoder_of(graph::ProgramBuilder& b, const DecoderParams& p, const BuildOptions& options,
                        const DecoderSpec& spec, TokenMixer mix) {
  const bool norm_in = spec.norms != NormPlacement::kAfter;
  const bool norm_out = spec.norms != NormPlacement::kBefore;
  Value x = b.embed("token_embd.weight", p.n_vocab, p.d_model, spec.embedding_scale);
  for (int32_t il = 0; il < p.n_layer && !b.failed(); ++il) {
    const std::string layer = fmt::format("blk.{}", il);
    b.set_label(layer);
    tap_hidden(b, x, il, options);
    // The last layer's error reaches the logits unattenuated: it sees its activations in two planes, and its
    // feed-forward runs for the rows whose logits are wanted only.
    const bool last = il + 1 == p.n_layer;
    b.set_planes(last ? ActivationPlanes::kTwo : ActivationPlanes::kOne);

    Value h = norm_in ? b.rms_norm(x, layer + ".attn_norm.weight", p.norm_eps) : x;
    h = mix(layer, il, h);
    if (norm_out) h = b.rms_norm(h, layer + ".post_attention_norm.weight", p.norm_eps);
    x = b.add(x, h, spec.residual_scale);
    if (last) x = b.select_outputs(x);
    if (spec.ffn == Ffn::kNone) continue;

    // Some converters leave the suffix out (falcon-h1).
    const std::string bare = layer + "." + spec.ffn_norm;
    const std::string ffn_norm = b.has(bare) ? bare : bare + ".weight";
    h = norm_in ? b.rms_norm(x, ffn_norm, p.norm_eps) : x;
    const bool routed = spec.moe_layers == MoeLayers::kAfterDense
                            ? spec.moe && il >= spec.moe->n_dense
                            : spec.moe && b.has(layer + ".ffn_gate_inp.weight");
    h = routed ? moe_ffn(b, layer, h, p.d_model, *spec.moe)
               : gated_ffn(b, layer, h, p.d_model, p.n_ff, spec.activation);
    if (norm_out) h = b.rms_norm(h, layer + ".post_ffw_norm.weight", p.norm_eps);
    x = b.add(x, h, spec.residual_scale);
  }
  return lm_head(b, x, p, options, spec.head);
}

}  // namespace quire

// gpt-oss: biases everywhere, a learned sink beside the scores of every head, a window of 128 positions in
// every other layer, YaRN, and experts with a clamped activation whose weights are a softmax over those
// chosen (OpenAI 2025, "gpt-oss-120b & gpt-oss-20b Model Card"). The published weights are MXFP4.
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/blocks/window.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_gpt_oss(const Metadata& metadata, const BuildOptions& options,
                                   graph::ProgramBuilder& b) {
  const Keys keys(metadata, "gpt-oss");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope, read_rope(keys, p.d_k, p.n_ctx_train, options, b));
  QUIRE_ASSIGN_OR_RETURN(const WindowParams windows,
                         read_windows(keys, p.n_layer, {.positions = 128, .period = 2}));
  QUIRE_ASSIGN_OR_RETURN(MoeSpec moe, read_moe(keys, p, {.gating = kernels::Gating::kSoftmaxOfSelected}));
  moe.activation = ExpertActivation::kClampedSwiglu;
  const DecoderSpec spec{.ffn_norm = "post_attention_norm", .moe = moe};
  return decoder(b, p, options, spec, [&](int32_t il) {
    return AttentionSpec{.rope = &rope,
                         .scale = 1 / std::sqrt(static_cast<float>(p.d_k)),
                         .window = windows.of(il),
                         .sinks = Sinks::kPerHead};
  });
}

}  // namespace quire

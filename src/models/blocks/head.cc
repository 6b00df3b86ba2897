#include "models/blocks/head.h"

#include <fmt/format.h>

namespace quire {

using graph::Value;

graph::Value lm_head(graph::ProgramBuilder& b, Value x, const DecoderParams& p, const BuildOptions& options,
                     const HeadSpec& spec) {
  b.set_label("output");
  Value h = b.rms_norm(x, std::string(spec.norm) + ".weight", p.norm_eps);
  tap_hidden(b, h, p.n_layer, options);
  b.set_state(h);
  b.set_planes(kernels::ActivationPlanes::kTwo);  // an error in its activations goes straight into the logits
  const bool tied = !b.has("output.weight");
  Value logits = b.linear_bias(h, tied ? "token_embd.weight" : "output.weight", "output.bias", p.n_vocab);
  if (spec.logit_scale != 1) logits = b.scale(logits, spec.logit_scale);
  if (spec.softcap > 0) logits = b.softcap(logits, spec.softcap);
  return logits;
}

void tap_hidden(graph::ProgramBuilder& b, Value x, int32_t layer, const BuildOptions& options) {
  if (options.tap_hidden) b.tap(x, fmt::format("hidden.{}", layer));
}

}  // namespace quire

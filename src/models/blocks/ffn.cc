#include "models/blocks/ffn.h"

namespace quire {

using graph::Value;

graph::Value gated_ffn(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                       int64_t n_ff, kernels::Activation activation) {
  Value gate, up;
  if (b.has(layer + ".ffn_gate.weight")) {
    gate = b.linear_bias(x, layer + ".ffn_gate.weight", layer + ".ffn_gate.bias", n_ff);
    up = b.linear_bias(x, layer + ".ffn_up.weight", layer + ".ffn_up.bias", n_ff);
  } else {
    const Value both = b.linear_bias(x, layer + ".ffn_up.weight", layer + ".ffn_up.bias", 2 * n_ff);
    gate = b.slice(both, 0, n_ff);
    up = b.slice(both, n_ff, n_ff);
  }
  const Value h = b.gated_activation(gate, up, activation);
  return b.linear_bias(h, layer + ".ffn_down.weight", layer + ".ffn_down.bias", d_model);
}

}  // namespace quire

#include "models/blocks/ffn.h"

namespace quire {

using graph::Value;

graph::Value gated_ffn(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                       int64_t n_ff, kernels::Activation activation, const std::string& suffix) {
  const auto linear = [&](Value input, const char* name, int64_t n) {
    const std::string tensor = layer + name + suffix;
    return b.linear_bias(input, tensor + ".weight", tensor + ".bias", n);
  };
  Value gate, up;
  if (b.has(layer + ".ffn_gate" + suffix + ".weight")) {
    gate = linear(x, ".ffn_gate", n_ff);
    up = linear(x, ".ffn_up", n_ff);
  } else {
    const Value both = linear(x, ".ffn_up", 2 * n_ff);
    gate = b.slice(both, 0, n_ff);
    up = b.slice(both, n_ff, n_ff);
  }
  const Value h = b.gated_activation(gate, up, activation);
  return linear(h, ".ffn_down", d_model);
}

}  // namespace quire

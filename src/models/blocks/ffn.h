// Gated feed-forward layer: down(f(gate x) * up x), as SwiGLU or GeGLU (Shazeer 2020).
//
// Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "graph/builder.h"

namespace quire {

// x [tokens, d], already normed -> [tokens, d], before the residual. Takes ffn_gate and ffn_up, or one ffn_up
// [2 n_ff, d] with the gate first, and ffn_down, each with an optional bias; `suffix` follows these names
// ("_shexp" for a shared expert).
graph::Value gated_ffn(graph::ProgramBuilder& b, const std::string& layer, graph::Value x, int64_t d_model,
                       int64_t n_ff, kernels::Activation activation, const std::string& suffix = "");

}  // namespace quire

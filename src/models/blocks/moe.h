// Mixture of experts: a router sends each row to a few of many feed-forward layers and adds their answers up
// (Shazeer et al. 2017, "Outrageously Large Neural Networks"), with or without an expert that every row sees.
//
// One function with a spec of the differences between families. Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/builder.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/keys.h"

namespace quire {

// silu(gate) * up, or gpt-oss's form of it: clamped at 7, sigmoid(1.702 gate), up + 1.
enum class ExpertActivation : uint8_t { kSwiglu, kClampedSwiglu };

struct MoeSpec {
  graph::RouteParams route;
  int64_t n_ff = 0;         // width of an expert
  int64_t n_ff_shared = 0;  // width of the shared expert, 0 = none
  int64_t n_dense = 0;      // layers at the start that have no experts
  ExpertActivation activation = ExpertActivation::kSwiglu;
};

// What a family's files mean that leave the keys out.
struct MoeDefaults {
  kernels::Gating gating = kernels::Gating::kSoftmax;
  kernels::GateWeights normalise = kernels::GateWeights::kPlain;
};

// Reads expert_*; expert_feed_forward_length defaults to feed_forward_length, and there is a shared expert
// where the file says how wide it is. Errors: kCorrupt naming the key, kUnsupported (an unknown gating
// function).
Result<MoeSpec> read_moe(const Keys& keys, const DecoderParams& p, const MoeDefaults& defaults);

// x [tokens, d], already normed -> [tokens, d], before the residual. `layer` is "blk.N". Takes ffn_gate_inp,
// ffn_gate_exps and ffn_up_exps (or one ffn_gate_up_exps with the gate first) and ffn_down_exps, the latter
// four with optional biases, exp_probs_b where the file has it; for the shared expert ffn_*_shexp and, where
// the file has it, its gate ffn_gate_inp_shexp.
graph::Value moe_ffn(graph::ProgramBuilder& b, const std::string& layer, graph::Value x, int64_t d_model,
                     const MoeSpec& spec);

}  // namespace quire

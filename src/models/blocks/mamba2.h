// A Mamba 2 layer: projection, causal convolution, scan, gate, projection (Dao & Gu 2024, arXiv 2405.21060).
//
// Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/builder.h"
#include "models/blocks/keys.h"

namespace quire {

// The norm over each group after the gate.
enum class ScanNorm : uint8_t { kAlways, kWhereThere };

struct Mamba2Params {
  int64_t d_inner = 0;  // n_head heads of d_inner / n_head
  int64_t d_state = 0;
  int64_t n_head = 0;
  int64_t n_group = 0;  // of heads that share b and c
  int64_t n_taps = 0;
  ScanNorm norm = ScanNorm::kAlways;
};

// Reads ssm.*. Errors: kCorrupt naming the key.
Result<Mamba2Params> read_mamba2(const Keys& keys);

// x [tokens, d_model], already normed -> [tokens, d_model], before the residual. `layer` is "blk.N". Takes
// ssm_in (z | x | b | c | dt), ssm_conv1d with an optional bias, ssm_dt.bias, ssm_a, ssm_d, ssm_norm and
// ssm_out.
graph::Value mamba2_block(graph::ProgramBuilder& b, const std::string& layer, graph::Value x, int64_t d_model,
                          const Mamba2Params& p, float norm_eps);

}  // namespace quire

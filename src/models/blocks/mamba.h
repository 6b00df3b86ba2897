// A Mamba 1 layer: projection, causal convolution, selective scan of every channel, gate, projection (Gu &
// Dao 2023, arXiv 2312.00752).
//
// Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/builder.h"
#include "models/blocks/keys.h"

namespace quire {

// What is normed between the projections that make dt, b and c and their use.
enum class SelectionNorm : uint8_t {
  kNone,
  kPlain,   // RMS without weights (Falcon Mamba)
  kWeights  // ssm_dt_norm, ssm_b_norm, ssm_c_norm (Jamba)
};

struct MambaParams {
  int64_t n_channels = 0;
  int64_t d_state = 0;
  int64_t dt_rank = 0;
  int64_t n_taps = 0;
  SelectionNorm norm = SelectionNorm::kNone;
};

// Reads ssm.*. Errors: kCorrupt naming the key.
Result<MambaParams> read_mamba(const Keys& keys);

// x [tokens, d_model], already normed -> [tokens, d_model], before the residual. `layer` is "blk.N". Takes
// ssm_in (x | z), ssm_conv1d and its bias, ssm_x (dt | b | c), ssm_dt, ssm_a, ssm_d and ssm_out.
graph::Value mamba_block(graph::ProgramBuilder& b, const std::string& layer, graph::Value x, int64_t d_model,
                         const MambaParams& p, float norm_eps);

}  // namespace quire

// A gated delta net layer: projections, causal convolution of q, k and v, the gated delta rule, a gated norm,
// projection (Yang, Kautz & Hatamizadeh 2024, arXiv 2412.06464; Qwen3-Next).
//
// Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/builder.h"
#include "models/blocks/keys.h"

namespace quire {

struct DeltaNetParams {
  int64_t d_k = 0, d_v = 0;  // per head
  int64_t n_key_head = 0;    // heads of q and k
  int64_t n_head = 0;        // heads of v, a multiple
  int64_t n_taps = 0;
  kernels::KeyHeads key_heads = kernels::KeyHeads::kBlocked;
};

// Reads ssm.*. Errors: kCorrupt naming the key.
Result<DeltaNetParams> read_delta_net(const Keys& keys);

// x [tokens, d_model], already normed -> [tokens, d_model], before the residual. `layer` is "blk.N". Takes
// attn_qkv, attn_gate, ssm_alpha and ssm_beta or one ssm_ba (for each key head beta of its heads, then
// alpha), ssm_conv1d, ssm_dt.bias, ssm_a, ssm_norm and ssm_out.
graph::Value delta_net_block(graph::ProgramBuilder& b, const std::string& layer, graph::Value x,
                             int64_t d_model, const DeltaNetParams& p, float norm_eps);

}  // namespace quire

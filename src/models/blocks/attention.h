// Self-attention of a decoder layer: projections, norms on q and k, rope, paged attention, output projection.
//
// One function with a spec of the differences between families. Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "graph/builder.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/keys.h"

namespace quire {

enum class QkNorm : uint8_t {
  kNone,
  kPerHead,  // RMS over each head, weights [d_k]
  kFull,     // RMS over all heads together, weights [n_head * d_k]
};

enum class Sinks : uint8_t {
  kNone,
  kPerHead,  // the scores of a head compete with a learned one, attn_sinks [n_head]
};

// What the mixed values are multiplied by before the output projection.
enum class OutputGate : uint8_t {
  kNone,
  kSigmoid,  // attn_q makes for each head a query and a gate, whose sigmoid it is
};

struct AttentionSpec {
  const graph::RopeSpec* rope = nullptr;  // null = no rotation in this layer
  kernels::RopePairs pairs = kernels::RopePairs::kHalves;
  QkNorm qk_norm = QkNorm::kNone;
  OutputGate output_gate = OutputGate::kNone;  // kSigmoid: with keys as wide as values, unfused
  float scale = 1;                             // of q . k
  float softcap = 0;                           // 0 = none
  int32_t window = 0;                          // 0 = every position
  Sinks sinks = Sinks::kNone;
};

// attention.scale, or 1 / sqrt(d_k) where the key is absent or 0. Errors: kCorrupt (not a finite number).
Result<float> read_attention_scale(const Keys& keys, const DecoderParams& p);

// x [tokens, d_model], already normed -> [tokens, d_model], before the residual. `layer` is "blk.N". Takes
// attn_q, attn_k, attn_v or one attn_qkv, each with an optional bias, and attn_output.
graph::Value attention_block(graph::ProgramBuilder& b, const std::string& layer, graph::Value x,
                             const DecoderParams& p, const AttentionSpec& spec);

}  // namespace quire

// Multi-head latent attention: keys and values of all heads are projections of one short row, and that row,
// with a part that rotates, is all a position keeps (DeepSeek-AI 2024, "DeepSeek-V2", 2.1).
//
// The projections are absorbed: a query is multiplied by its head's k_b and meets the row itself, and v_b is
// applied to the weighted sum of rows. Appends to the builder; pure otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/builder.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/keys.h"

namespace quire {

struct LatentParams {
  int64_t q_rank = 0;   // of the queries' own latent row; 0 = queries are projected at once
  int64_t kv_rank = 0;  // of the row that all heads share
  int64_t d_plain = 0;  // of a head's query and key: what does not rotate
  int64_t d_rope = 0;   // and what does
  int64_t d_v = 0;      // of a head
};

// attention.q_lora_rank, kv_lora_rank, key_length_mla and value_length_mla (older files: key_length,
// value_length), rope.dimension_count. Errors: kCorrupt naming the key.
Result<LatentParams> read_latent_params(const Keys& keys);

struct LatentSpec {
  const graph::RopeSpec* rope = nullptr;
  float scale = 1;  // of q . k
};

// x [tokens, d_model], already normed -> [tokens, d_model], before the residual. `layer` is "blk.N". Takes
// attn_q or attn_q_a, attn_q_a_norm and attn_q_b; attn_kv_a_mqa, attn_kv_a_norm; attn_k_b and attn_v_b, or
// one attn_kv_b; attn_output.
graph::Value latent_attention_block(graph::ProgramBuilder& b, const std::string& layer, graph::Value x,
                                    const DecoderParams& p, const LatentParams& latent,
                                    const LatentSpec& spec);

}  // namespace quire

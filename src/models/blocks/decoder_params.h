// DecoderParams: the keys every decoder-only transformer has, read and checked once.
//
// Source: `<arch>.*` keys of GGUF metadata. Plain data. Every number is range-checked here, so that model
// code may multiply and divide without care.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gguf/metadata.h"
#include "models/architecture.h"
#include "models/blocks/keys.h"

namespace quire {

struct DecoderParams {
  int32_t n_layer = 0;
  int64_t d_model = 0;    // width of the residual stream
  int64_t n_ff = 0;       // width of the feed-forward layer
  int32_t n_head = 0;     // query heads
  int32_t n_head_kv = 0;  // key and value heads; n_head is a multiple
  int32_t d_k = 0;        // key dimension per head
  int32_t d_v = 0;        // value dimension per head
  int64_t n_vocab = 0;
  int64_t n_ctx_train = 0;  // context the model was trained for
  float norm_eps = 0;       // of RMS norms
};

// What families without attention have too: layers, width, vocabulary, context, epsilon. The rest stays 0.
// Errors: those of read_decoder_params.
Result<DecoderParams> read_trunk_params(const Keys& keys);

// `trunk` with the heads of its attention, which n_head_kv keys and values are stored for. Errors: likewise.
Result<DecoderParams> with_heads(const Keys& keys, const DecoderParams& trunk, int64_t n_head_kv);

// Errors: kCorrupt naming the key, what was found and what was expected.
Result<DecoderParams> read_decoder_params(const Keys& keys);

}  // namespace quire

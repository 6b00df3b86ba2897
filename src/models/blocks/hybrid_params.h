// HybridParams: the keys of a decoder of whose layers only some attend or feed forward, read and checked
// once.
//
// Such files give head_count_kv (and sometimes feed_forward_length) layer by layer, with 0 where a layer has
// none. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "models/blocks/decoder_params.h"
#include "models/blocks/keys.h"

namespace quire {

struct HybridParams {
  DecoderParams decoder;                // n_head_kv and n_ff of the layers that have some
  std::vector<int64_t> n_head_kv = {};  // by layer
  std::vector<int64_t> n_ff = {};       // by layer

  bool attends(int32_t il) const { return n_head_kv[static_cast<size_t>(il)] > 0; }
};

// Errors: those of read_decoder_params; kUnsupported when layers that have heads differ in their number.
Result<HybridParams> read_hybrid_params(const Keys& keys);

}  // namespace quire

// What the Granite families share: four scalars from the file, three of which are the decoder's.
//
// Pure functions. Source: IBM Granite Team 2024, "Granite 3.0 Language Models".
#pragma once

#include "base/result.h"
#include "models/blocks/decoder.h"
#include "models/blocks/keys.h"

namespace quire {

// embedding_scale, residual_scale and logit_scale (logits are divided by it), each 1 where the file has none.
// Errors: kCorrupt naming the key.
Result<DecoderSpec> read_granite_scalars(const Keys& keys);

}  // namespace quire

// What the Gemma families share: norms around every branch, GeGLU, scaled embeddings, and the scale of q.
//
// Pure functions. Source: Gemma Team 2024, "Gemma 2"; the same in Gemma 3.
#pragma once

#include <cstdint>

#include "models/blocks/decoder.h"
#include "models/blocks/decoder_params.h"

namespace quire {

// `logit_cap` 0 = none.
DecoderSpec gemma_decoder(const DecoderParams& p, float logit_cap);

// The scale of q . k, for which files have no key: 1 / sqrt(d_k), but in the 27B model, which is told by its
// number of layers, 1 / sqrt of the width per head.
float gemma_attention_scale(const DecoderParams& p, int32_t n_layer_27b);

}  // namespace quire

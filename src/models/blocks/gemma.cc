#include "models/blocks/gemma.h"

#include <cmath>

namespace quire {

DecoderSpec gemma_decoder(const DecoderParams& p, float logit_cap) {
  return {.norms = NormPlacement::kBoth,
          .activation = kernels::Activation::kGeluTanh,
          .embedding_scale = std::sqrt(static_cast<float>(p.d_model)),
          .head = {.softcap = logit_cap}};
}

float gemma_attention_scale(const DecoderParams& p, int32_t n_layer_27b) {
  const float base = p.n_layer == n_layer_27b ? static_cast<float>(p.d_model) / static_cast<float>(p.n_head)
                                              : static_cast<float>(p.d_k);
  return 1 / std::sqrt(base);
}

}  // namespace quire

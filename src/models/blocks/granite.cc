#include "models/blocks/granite.h"

namespace quire {

Result<DecoderSpec> read_granite_scalars(const Keys& keys) {
  DecoderSpec spec;
  QUIRE_ASSIGN_OR_RETURN(spec.embedding_scale, keys.number_or("embedding_scale", NumberRange::kFinite, 1));
  QUIRE_ASSIGN_OR_RETURN(spec.residual_scale, keys.number_or("residual_scale", NumberRange::kFinite, 1));
  QUIRE_ASSIGN_OR_RETURN(const float logit_divisor, keys.number_or("logit_scale", NumberRange::kPositive, 1));
  spec.head.logit_scale = 1 / logit_divisor;
  return spec;
}

}  // namespace quire

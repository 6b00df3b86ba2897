// IQ2_XXS: 256 values in groups of 8 from a grid of 256 points, with signs; a 4-bit scale per 32 values, one
// f16. y = d * (0.5 + scale) / 4 * magnitude * sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ2_XXS {
  uint16_t d;      // f16
  uint8_t qs[64];  // per 32 values: four grid indices, then a word of four 7-bit sign indices and the scale
                   // on top
};
static_assert(sizeof(BlockIQ2_XXS) == 66);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq2_xxs(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq2_xxs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

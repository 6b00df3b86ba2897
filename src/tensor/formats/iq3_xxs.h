// IQ3_XXS: 256 values in groups of 4 from a grid of 256 points, with signs; a 4-bit scale per 32 values, one
// f16. y = d * (0.5 + scale) / 2 * magnitude * sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ3_XXS {
  uint16_t d;         // f16
  uint8_t qs[64];     // grid index of each 4 values
  uint8_t signs[32];  // a little-endian word per 32 values: four 7-bit sign indices and the scale on top
};
static_assert(sizeof(BlockIQ3_XXS) == 98);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq3_xxs(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq3_xxs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

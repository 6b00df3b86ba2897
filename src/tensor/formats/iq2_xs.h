// IQ2_XS: 256 values in groups of 8 from a grid of 512 points, with signs; a 4-bit scale per 16 values, one
// f16. y = d * (0.5 + scale) / 4 * magnitude * sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ2_XS {
  uint16_t d;         // f16
  uint8_t qs[64];     // 32 little-endian words, one per 8 values: grid index (9 bits), sign index (7 bits)
  uint8_t scales[8];  // per 32 values: low nibble the first 16, high nibble the last 16
};
static_assert(sizeof(BlockIQ2_XS) == 74);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq2_xs(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq2_xs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

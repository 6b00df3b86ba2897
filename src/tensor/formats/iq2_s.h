// IQ2_S: 256 values in groups of 8 from a grid of 1024 points, with signs; a 4-bit scale per 16 values, one
// f16. y = d * (0.5 + scale) / 4 * magnitude * sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ2_S {
  uint16_t d;         // f16
  uint8_t qs[32];     // low 8 bits of the grid index of each 8 values
  uint8_t signs[32];  // sign mask of each 8 values
  uint8_t qh[8];      // per 32 values: bits 2g are the high index bits of group g
  uint8_t scales[8];  // per 32 values: low nibble the first 16, high nibble the last 16
};
static_assert(sizeof(BlockIQ2_S) == 82);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq2_s(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq2_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// IQ3_S: 256 values in groups of 4 from a grid of 512 points, with signs; a 4-bit scale per 32 values, one
// f16. y = d * (1 + 2 * scale) * magnitude * sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ3_S {
  uint16_t d;         // f16
  uint8_t qs[64];     // low 8 bits of the grid index of each 4 values
  uint8_t qh[8];      // per 32 values: bit k is the ninth index bit of the k-th group of 4
  uint8_t signs[32];  // sign mask of each 8 values
  uint8_t scales[4];  // nibble j: scale of 32 values
};
static_assert(sizeof(BlockIQ3_S) == 110);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq3_s(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq3_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// IQ1_S: 256 values in groups of 8 from a grid of 2048 ternary points, shifted by an eighth; a 3-bit scale
// per 32 values, one f16. y = d * (2 * scale + 1) * (point +- 1/8).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ1_S {
  uint16_t d;      // f16
  uint8_t qs[32];  // low 8 bits of the grid index of each 8 values
  uint8_t qh[16];  // a little-endian word per 32 values: bits 0-11 four times three high index bits, bits
                   // 12-14 the scale, bit 15 set when the shift is negative
};
static_assert(sizeof(BlockIQ1_S) == 50);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq1_s(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq1_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

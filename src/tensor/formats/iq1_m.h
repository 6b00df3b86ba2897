// IQ1_M: 256 values in groups of 8 from the grid of IQ1_S, each group with its own shift; a 3-bit scale per
// 16 values, one f16. y = d * (2 * scale + 1) * (point +- 1/8).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ1_M {
  uint8_t qs[32];     // low 8 bits of the grid index of each 8 values
  uint8_t qh[16];     // nibble per 8 values: three high index bits, then a bit that is set when the shift is
                      // negative
  uint8_t scales[8];  // four little-endian words: 3-bit scales of four times 16 values, then a nibble of the
                      // f16 scale
};
static_assert(sizeof(BlockIQ1_M) == 56);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq1_m(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq1_m(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

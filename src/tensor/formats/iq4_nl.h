// IQ4_NL: 32 values as 4-bit indices into kIq4Values with one f16 scale. y = d * kIq4Values[q].
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats/iq4_values.h"
#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ4_NL {
  uint16_t d;      // f16
  uint8_t qs[16];  // byte j: low nibble element j, high nibble element j + 16
};
static_assert(sizeof(BlockIQ4_NL) == 18);

// Index of element i, 0..15.
static inline int iq4_nl_code(const BlockIQ4_NL& block, int i) {
  return (block.qs[i % 16] >> (4 * (i / 16))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq4_nl(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq4_nl(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

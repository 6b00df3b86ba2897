// Q4_0: 32 values as 4-bit codes around 8 with one f16 scale. y = (q - 8) * d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ4_0 {
  uint16_t d;      // f16
  uint8_t qs[16];  // byte j: low nibble element j, high nibble element j + 16
};
static_assert(sizeof(BlockQ4_0) == 18);

// Code of element i, 0..15.
static inline int q4_0_code(const BlockQ4_0& block, int i) {
  return (block.qs[i % 16] >> (4 * (i / 16))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q4_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q4_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_q4_0(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

// Q4_1: 32 values as 4-bit codes with an f16 scale and an f16 minimum. y = q * d + m.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ4_1 {
  uint16_t d;      // f16 scale
  uint16_t m;      // f16 minimum
  uint8_t qs[16];  // byte j: low nibble element j, high nibble element j + 16
};
static_assert(sizeof(BlockQ4_1) == 20);

// Code of element i, 0..15.
static inline int q4_1_code(const BlockQ4_1& block, int i) {
  return (block.qs[i % 16] >> (4 * (i / 16))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q4_1(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q4_1(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_q4_1(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

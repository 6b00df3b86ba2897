// Q5_0: 32 values as 5-bit codes around 16 with one f16 scale. y = (q - 16) * d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ5_0 {
  uint16_t d;      // f16
  uint8_t qh[4];   // bit i of the little-endian word: fifth bit of element i
  uint8_t qs[16];  // byte j: low nibble element j, high nibble element j + 16
};
static_assert(sizeof(BlockQ5_0) == 22);

// Code of element i, 0..31.
static inline int q5_0_code(const BlockQ5_0& block, int i) {
  return ((block.qs[i % 16] >> (4 * (i / 16))) & 15) | (((block.qh[i / 8] >> (i % 8)) & 1) << 4);
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q5_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q5_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_q5_0(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

// Q2_K: 256 values as 2-bit codes; each 16 values have a 4-bit scale and a 4-bit minimum, scaled by two f16.
// y = d * scale * q - dmin * min.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ2_K {
  uint8_t scales[16];  // one per 16 values in element order: low nibble scale, high nibble minimum
  uint8_t qs[64];      // see q2_k_code
  uint16_t d;          // f16, times the scales
  uint16_t dmin;       // f16, times the minimums
};
static_assert(sizeof(BlockQ2_K) == 84);

// Scale and minimum of values [16 * group, 16 * group + 16), 0..15 each.
static inline int q2_k_scale(const BlockQ2_K& block, int group) { return block.scales[group] & 15; }
static inline int q2_k_min(const BlockQ2_K& block, int group) { return block.scales[group] >> 4; }

// Code of value l of a group, 0..3. A half of 128 values shares 32 bytes: pairs of groups take bits 0-1, 2-3,
// 4-5, 6-7, the first group of a pair from bytes 0-15, the second from bytes 16-31.
static inline int q2_k_code(const BlockQ2_K& block, int group, int l) {
  const int byte = 32 * (group / 8) + 16 * (group % 2) + l;
  return (block.qs[byte] >> (2 * (group % 8 / 2))) & 3;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q2_k(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q2_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

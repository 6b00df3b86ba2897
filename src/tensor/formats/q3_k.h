// Q3_K: 256 values as 3-bit codes around 4; each 16 values have a 6-bit scale around 32, scaled by one f16.
// y = d * (scale - 32) * (q - 4).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ3_K {
  uint8_t hmask[32];   // third bits, see q3_k_code
  uint8_t qs[64];      // low two bits, walked as in Q2_K
  uint8_t scales[12];  // see q3_k_scale
  uint16_t d;          // f16
};
static_assert(sizeof(BlockQ3_K) == 110);

// Scale of values [16 * group, 16 * group + 16), -32..31. Low four bits: nibbles of bytes 0-7 (low ones are
// groups 0-7). High two bits: byte 8 + group % 4, bits 2 * (group / 4).
static inline int q3_k_scale(const BlockQ3_K& block, int group) {
  const int low = (block.scales[group % 8] >> (4 * (group / 8))) & 15;
  const int high = (block.scales[8 + group % 4] >> (2 * (group / 4))) & 3;
  return (low | (high << 4)) - 32;
}

// Code of value l of a group, -4..3. The third bit of element 32 * k + i is bit k of hmask[i].
static inline int q3_k_code(const BlockQ3_K& block, int group, int l) {
  const int column = 16 * (group % 2) + l;
  const int low = (block.qs[32 * (group / 8) + column] >> (2 * (group % 8 / 2))) & 3;
  const int high = (block.hmask[column] >> (group / 2)) & 1;
  return low + 4 * high - 4;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q3_k(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q3_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// Q6_K: 256 values as 6-bit codes around 32; each 16 values have an int8 scale, scaled by one f16.
// y = d * scale * (q - 32).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ6_K {
  uint8_t ql[128];    // low four bits, see q6_k_code
  uint8_t qh[64];     // high two bits
  int8_t scales[16];  // one per 16 values in element order
  uint16_t d;         // f16
};
static_assert(sizeof(BlockQ6_K) == 210);

// Code of value l = 0..31 of 32-value run r = 0..7, -32..31. A half of 128 values (four runs) has 64 bytes of
// ql and 32 of qh: runs 0 and 1 are the low nibbles of ql bytes 0-31 and 32-63, runs 2 and 3 their high
// nibbles; run k of the half has its high bits in bits 2k of qh.
static inline int q6_k_code(const BlockQ6_K& block, int r, int l) {
  const int half = r / 4;
  const int k = r % 4;
  const int low = (block.ql[64 * half + 32 * (k % 2) + l] >> (4 * (k / 2))) & 15;
  const int high = (block.qh[32 * half + l] >> (2 * k)) & 3;
  return (low | (high << 4)) - 32;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q6_k(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q6_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// Q4_K: 256 values as 4-bit codes; each 32 values have a 6-bit scale and a 6-bit minimum, scaled by two f16.
// y = d * scale * q - dmin * min. Scale and minimum of sub-block j: k_scale(block.scales, j),
// k_min(block.scales, j).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats/k_scales.h"
#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ4_K {
  uint16_t d;          // f16, times the scales
  uint16_t dmin;       // f16, times the minimums
  uint8_t scales[12];  // k_scales.h
  uint8_t qs[128];     // each 32 bytes: low nibbles sub-block 2i, high nibbles sub-block 2i + 1
};
static_assert(sizeof(BlockQ4_K) == 144);

// Code of value l = 0..31 of sub-block j = 0..7, 0..15.
static inline int q4_k_code(const BlockQ4_K& block, int j, int l) {
  return (block.qs[32 * (j / 2) + l] >> (4 * (j % 2))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q4_k(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q4_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

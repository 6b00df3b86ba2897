// IQ4_XS: 256 values as 4-bit indices into kIq4Values; each 32 values have a 6-bit scale around 32, scaled by
// one f16. y = d * (scale - 32) * kIq4Values[q].
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats/iq4_values.h"
#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockIQ4_XS {
  uint16_t d;           // f16
  uint8_t scales_h[2];  // little-endian word, bits 2j: high two bits of scale j
  uint8_t scales_l[4];  // nibble j: low four bits of scale j
  uint8_t qs[128];      // 16 bytes per sub-block of 32, nibble order of IQ4_NL
};
static_assert(sizeof(BlockIQ4_XS) == 136);

// Scale of sub-block j = 0..7, -32..31.
static inline int iq4_xs_scale(const BlockIQ4_XS& block, int j) {
  const int low = (block.scales_l[j / 2] >> (4 * (j % 2))) & 15;
  const int high = (block.scales_h[j / 4] >> (2 * (j % 4))) & 3;
  return (low | (high << 4)) - 32;
}

// Index of value l = 0..31 of sub-block j = 0..7, 0..15.
static inline int iq4_xs_code(const BlockIQ4_XS& block, int j, int l) {
  return (block.qs[16 * j + l % 16] >> (4 * (l / 16))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_iq4_xs(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_iq4_xs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

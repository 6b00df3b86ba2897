// MXFP4: 32 values as E2M1 codes with one power-of-two scale. y = kFp4Doubled[q] * e8m0_half(e).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats/fp4_values.h"
#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockMXFP4 {
  uint8_t e;       // E8M0 scale
  uint8_t qs[16];  // byte j: low nibble element j, high nibble element j + 16
};
static_assert(sizeof(BlockMXFP4) == 17);

// E2M1 code of element i, 0..15.
static inline int mxfp4_code(const BlockMXFP4& block, int i) {
  return (block.qs[i % 16] >> (4 * (i / 16))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_mxfp4(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_mxfp4(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_mxfp4(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

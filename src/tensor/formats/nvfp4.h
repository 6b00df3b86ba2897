// NVFP4: 64 values as E2M1 codes; each 16 values have an unsigned E4M3 scale. y = kFp4Doubled[q] *
// ue4m3_half(d).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/formats/fp4_values.h"
#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockNVFP4 {
  uint8_t d[4];    // unsigned E4M3, one per 16 values
  uint8_t qs[32];  // 8 bytes per 16 values; byte j: low nibble value j, high nibble value j + 8
};
static_assert(sizeof(BlockNVFP4) == 36);

// E2M1 code of value l = 0..15 of group g = 0..3.
static inline int nvfp4_code(const BlockNVFP4& block, int g, int l) {
  return (block.qs[8 * g + l % 8] >> (4 * (l / 8))) & 15;
}

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_nvfp4(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_nvfp4(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

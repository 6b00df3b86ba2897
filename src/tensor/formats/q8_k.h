// Q8_K: 256 int8 values with one f32 scale and the sums of 16 codes each. y = q * d.
// An activation format, the partner of the 256-value types in other programs; never a weight type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ8_K {
  float d;
  int8_t qs[256];
  uint8_t sums[32];  // 16 little-endian int16: sum of each 16 codes
};
static_assert(sizeof(BlockQ8_K) == 292);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q8_k(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q8_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// Q8_0: 32 int8 values with one f16 scale. y = q * d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ8_0 {
  uint16_t d;  // f16
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q8_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q8_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_q8_0(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

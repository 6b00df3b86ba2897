// Q8_1: 32 int8 values with one f16 scale and the scaled sum of the codes. y = q * d.
// An activation format, the partner of Q4_1 and Q5_1 in other programs; never a weight type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ8_1 {
  uint16_t d;  // f16
  uint16_t s;  // f16: d times the sum of qs
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_1) == 36);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q8_1(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q8_1(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// Q2_0: 64 values as 2-bit codes around 1 with one f16 scale. y = (q - 1) * d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ2_0 {
  uint16_t d;      // f16
  uint8_t qs[16];  // element i is bits 2 * (i % 4) of byte i / 4
};
static_assert(sizeof(BlockQ2_0) == 18);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q2_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q2_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// Q1_0: 128 values as single bits with one f16 scale. y = bit ? d : -d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockQ1_0 {
  uint16_t d;      // f16
  uint8_t qs[16];  // element i is bit i % 8 of byte i / 8
};
static_assert(sizeof(BlockQ1_0) == 18);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_q1_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_q1_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);

}  // namespace quire

// TQ2_0: 256 ternary values in two bits each with one f16 scale. y = (q - 1) * d.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockTQ2_0 {
  uint8_t qs[64];  // element 128 * h + 32 * k + m is bits 2k of byte 32 * h + m
  uint16_t d;      // f16
};
static_assert(sizeof(BlockTQ2_0) == 66);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_tq2_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_tq2_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_tq2_0(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

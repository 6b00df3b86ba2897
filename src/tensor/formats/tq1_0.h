// TQ1_0: 256 ternary values, five to a byte, with one f16 scale. y = (digit - 1) * d.
// A byte holds a base-3 fraction: ceil(256 / 243 * sum of digit n * 3^(4 - n)). Multiplying by 3^n modulo 256
// and taking the integer part of three 256ths of that gives digit n.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/int8_codes.h"

namespace quire {

struct [[gnu::packed]] BlockTQ1_0 {
  uint8_t
      qs[48];  // bytes 0-31: elements 32 * n + byte; bytes 32-47: elements 160 + 16 * n + byte - 32; n = 0..4
  uint8_t qh[4];  // elements 240 + 4 * n + byte, n = 0..3
  uint16_t d;     // f16
};
static_assert(sizeof(BlockTQ1_0) == 54);

// Decodes and unpacks n_elems values; see ElementTypeInfo.
void decode_tq1_0(const std::byte* blocks, float* values, int64_t n_elems);
void unpack_tq1_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems);
void encode_tq1_0(const float* values, std::byte* blocks, int64_t n_elems);

}  // namespace quire

// Types whose block is one number: F32, F16, BF16 and F64, little-endian.
//
// Pure; thread safe; addresses need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire {

// Decode and encode n_elems values; see ElementTypeInfo. Encoding to 16 bits rounds to nearest, ties to even.
void decode_f32(const std::byte* blocks, float* values, int64_t n_elems);
void encode_f32(const float* values, std::byte* blocks, int64_t n_elems);
void decode_f16(const std::byte* blocks, float* values, int64_t n_elems);
void encode_f16(const float* values, std::byte* blocks, int64_t n_elems);
void decode_bf16(const std::byte* blocks, float* values, int64_t n_elems);
void encode_bf16(const float* values, std::byte* blocks, int64_t n_elems);
// Rounds to f32; values beyond its range become infinite.
void decode_f64(const std::byte* blocks, float* values, int64_t n_elems);

}  // namespace quire

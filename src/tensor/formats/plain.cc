#include "tensor/formats/plain.h"

#include <cstring>

#include "tensor/half.h"

namespace quire {
namespace {

// memcpy instead of a typed pointer: tensor data may start at any byte.
template <typename Stored, float (*kConvert)(Stored)>
void decode_each(const std::byte* blocks, float* values, int64_t n_elems) {
  for (int64_t i = 0; i < n_elems; ++i) {
    Stored stored;
    std::memcpy(&stored, blocks + i * static_cast<int64_t>(sizeof(Stored)), sizeof(Stored));
    values[i] = kConvert(stored);
  }
}

template <typename Stored, Stored (*kConvert)(float)>
void encode_each(const float* values, std::byte* blocks, int64_t n_elems) {
  for (int64_t i = 0; i < n_elems; ++i) {
    const Stored stored = kConvert(values[i]);
    std::memcpy(blocks + i * static_cast<int64_t>(sizeof(Stored)), &stored, sizeof(Stored));
  }
}

float f64_to_f32(double value) { return static_cast<float>(value); }

}  // namespace

void decode_f32(const std::byte* blocks, float* values, int64_t n_elems) {
  if (n_elems > 0) std::memcpy(values, blocks, static_cast<size_t>(n_elems) * sizeof(float));
}

void encode_f32(const float* values, std::byte* blocks, int64_t n_elems) {
  if (n_elems > 0) std::memcpy(blocks, values, static_cast<size_t>(n_elems) * sizeof(float));
}

void decode_f16(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_each<uint16_t, f16_to_f32>(blocks, values, n_elems);
}

void encode_f16(const float* values, std::byte* blocks, int64_t n_elems) {
  encode_each<uint16_t, f32_to_f16>(values, blocks, n_elems);
}

void decode_bf16(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_each<uint16_t, bf16_to_f32>(blocks, values, n_elems);
}

void encode_bf16(const float* values, std::byte* blocks, int64_t n_elems) {
  encode_each<uint16_t, f32_to_bf16>(values, blocks, n_elems);
}

void decode_f64(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_each<double, f64_to_f32>(blocks, values, n_elems);
}

}  // namespace quire

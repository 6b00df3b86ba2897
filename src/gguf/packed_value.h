// Packed little-endian values as GGUF stores them: loads and the mapping between C++ types and ValueType.
//
// Internal to gguf/. Pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "gguf/metadata.h"

namespace quire::gguf_internal {

static_assert(std::endian::native == std::endian::little, "values are copied as they are stored");

// The value of type T stored at `p`, which need not be aligned.
template <typename T>
T load(const char* p) {
  if constexpr (std::is_same_v<T, bool>) {
    return *p != 0;
  } else {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
  }
}

template <typename T>
inline constexpr ValueType kValueTypeOf = ValueType::kString;
template <>
inline constexpr ValueType kValueTypeOf<uint8_t> = ValueType::kU8;
template <>
inline constexpr ValueType kValueTypeOf<int8_t> = ValueType::kI8;
template <>
inline constexpr ValueType kValueTypeOf<uint16_t> = ValueType::kU16;
template <>
inline constexpr ValueType kValueTypeOf<int16_t> = ValueType::kI16;
template <>
inline constexpr ValueType kValueTypeOf<uint32_t> = ValueType::kU32;
template <>
inline constexpr ValueType kValueTypeOf<int32_t> = ValueType::kI32;
template <>
inline constexpr ValueType kValueTypeOf<float> = ValueType::kF32;
template <>
inline constexpr ValueType kValueTypeOf<bool> = ValueType::kBool;
template <>
inline constexpr ValueType kValueTypeOf<uint64_t> = ValueType::kU64;
template <>
inline constexpr ValueType kValueTypeOf<int64_t> = ValueType::kI64;
template <>
inline constexpr ValueType kValueTypeOf<double> = ValueType::kF64;

// Calls fn.template operator()<S>() with the C++ type of a packed scalar; false when `type` is no such type.
template <typename F>
bool with_scalar_type(ValueType type, F&& fn) {
  switch (type) {
    case ValueType::kU8:
      return fn.template operator()<uint8_t>(), true;
    case ValueType::kI8:
      return fn.template operator()<int8_t>(), true;
    case ValueType::kU16:
      return fn.template operator()<uint16_t>(), true;
    case ValueType::kI16:
      return fn.template operator()<int16_t>(), true;
    case ValueType::kU32:
      return fn.template operator()<uint32_t>(), true;
    case ValueType::kI32:
      return fn.template operator()<int32_t>(), true;
    case ValueType::kF32:
      return fn.template operator()<float>(), true;
    case ValueType::kBool:
      return fn.template operator()<bool>(), true;
    case ValueType::kU64:
      return fn.template operator()<uint64_t>(), true;
    case ValueType::kI64:
      return fn.template operator()<int64_t>(), true;
    case ValueType::kF64:
      return fn.template operator()<double>(), true;
    case ValueType::kString:
    case ValueType::kArray:
      return false;
  }
  return false;
}

}  // namespace quire::gguf_internal

#include "gguf/metadata.h"

#include <cmath>
#include <limits>
#include <utility>

#include "gguf/packed_value.h"
#include "gguf/printable.h"

namespace quire {
namespace {

using gguf_internal::kValueTypeOf;
using gguf_internal::load;
using gguf_internal::with_scalar_type;

template <typename T>
constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;
template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The family rule of the getters: integers from integers, floats from floats, bool and text from themselves.
template <typename T, typename Stored>
constexpr bool kConvertible = (kIsInteger<T> && kIsInteger<Stored>) ||
                              (std::is_floating_point_v<T> && std::is_floating_point_v<Stored>) ||
                              (std::is_same_v<T, bool> && std::is_same_v<Stored, bool>);

// nullopt when the stored value lies outside T's range.
template <typename T, typename Stored>
std::optional<T> convert(Stored stored) {
  if constexpr (kIsInteger<T>) {
    if (!std::in_range<T>(stored)) return std::nullopt;
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<Stored, double>) {
    if (std::isfinite(stored) && std::abs(stored) > std::numeric_limits<float>::max()) return std::nullopt;
  }
  return static_cast<T>(stored);
}

enum class Conversion { kDone, kWrongType, kOutOfRange };

// Converts `count` packed values of `type` at `bytes`, handing each to `take`.
template <typename T, typename Take>
Conversion convert_all(ValueType type, std::string_view bytes, uint64_t count, Take&& take) {
  Conversion outcome = Conversion::kWrongType;
  with_scalar_type(type, [&]<typename Stored>() {
    if constexpr (kConvertible<T, Stored>) {
      outcome = Conversion::kDone;
      for (uint64_t i = 0; i < count; ++i) {
        const std::optional<T> value = convert<T>(load<Stored>(bytes.data() + i * sizeof(Stored)));
        if (!value) {
          outcome = Conversion::kOutOfRange;
          return;
        }
        take(*value);
      }
    }
  });
  return outcome;
}

template <typename T>
std::string_view expected_name() {
  return value_type_name(kValueTypeOf<T>);
}

}  // namespace

const char* value_type_name(ValueType type) {
  switch (type) {
    case ValueType::kU8:
      return "u8";
    case ValueType::kI8:
      return "i8";
    case ValueType::kU16:
      return "u16";
    case ValueType::kI16:
      return "i16";
    case ValueType::kU32:
      return "u32";
    case ValueType::kI32:
      return "i32";
    case ValueType::kF32:
      return "f32";
    case ValueType::kBool:
      return "bool";
    case ValueType::kString:
      return "string";
    case ValueType::kArray:
      return "array";
    case ValueType::kU64:
      return "u64";
    case ValueType::kI64:
      return "i64";
    case ValueType::kF64:
      return "f64";
  }
  return "unknown";
}

size_t value_type_bytes(ValueType type) {
  size_t bytes = 0;
  with_scalar_type(type, [&]<typename Stored>() { bytes = sizeof(Stored); });
  return bytes;
}

const Metadata::Value* Metadata::find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

Status Metadata::insert(std::string key, Value value) {
  if (key.empty()) return error(ErrorCode::kCorrupt, key, "a key must not be empty");
  const auto [it, inserted] = values_.try_emplace(key, value);
  if (!inserted) return error(ErrorCode::kCorrupt, key, "the key occurs twice");
  keys_.push_back(std::move(key));
  return {};
}

Error Metadata::error(ErrorCode code, std::string_view key, std::string_view problem) const {
  return make_error(code, "{}{}key '{}': {}", source_, source_.empty() ? "" : ": ", printable(key), problem);
}

Error Metadata::type_error(std::string_view key, const Value& found, std::string_view expected) const {
  const std::string found_name =
      found.type == ValueType::kArray
          ? fmt::format("an array of {} {}", found.count, value_type_name(found.element))
          : value_type_name(found.type);
  return error(ErrorCode::kCorrupt, key, fmt::format("found {}, expected {}", found_name, expected));
}

template <typename T>
Result<T> Metadata::get(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr)
    return error(ErrorCode::kNotFound, key, fmt::format("missing, expected {}", expected_name<T>()));
  if constexpr (kIsText<T>) {
    if (value->type != ValueType::kString) return type_error(key, *value, expected_name<T>());
    return T(value->bytes);
  } else {
    T result{};
    switch (convert_all<T>(value->type, value->bytes, 1, [&](T converted) { result = converted; })) {
      case Conversion::kDone:
        return result;
      case Conversion::kWrongType:
        return type_error(key, *value, expected_name<T>());
      case Conversion::kOutOfRange:
        break;
    }
    return error(ErrorCode::kCorrupt, key, fmt::format("the value does not fit {}", expected_name<T>()));
  }
}

template <typename T>
Result<std::vector<T>> Metadata::get_array(std::string_view key) const {
  const std::string_view element = expected_name<T>();
  const Value* value = find(key);
  if (value == nullptr)
    return error(ErrorCode::kNotFound, key, fmt::format("missing, expected an array of {}", element));
  const auto wrong_type = [&] { return type_error(key, *value, fmt::format("an array of {}", element)); };
  if (value->type != ValueType::kArray) return wrong_type();

  std::vector<T> result;
  if constexpr (kIsText<T>) {
    if (value->element != ValueType::kString) return wrong_type();
    result.reserve(value->count);
    std::string_view rest = value->bytes;
    for (uint64_t i = 0; i < value->count; ++i) {
      const auto length = load<uint64_t>(rest.data());
      result.emplace_back(rest.substr(sizeof(uint64_t), length));
      rest.remove_prefix(sizeof(uint64_t) + length);
    }
    return result;
  } else {
    result.reserve(value->count);
    switch (convert_all<T>(value->element, value->bytes, value->count,
                           [&](T converted) { result.push_back(converted); })) {
      case Conversion::kDone:
        return result;
      case Conversion::kWrongType:
        return wrong_type();
      case Conversion::kOutOfRange:
        break;
    }
    return error(ErrorCode::kCorrupt, key, fmt::format("element {} does not fit {}", result.size(), element));
  }
}

template <typename T>
Result<std::vector<T>> Metadata::get_per_layer(std::string_view key, size_t n) const {
  if (n > kMaxLayers) {
    return error(ErrorCode::kCorrupt, key,
                 fmt::format("asked for {} layers, the limit is {}", n, kMaxLayers));
  }
  const Value* value = find(key);
  if (value == nullptr || value->type != ValueType::kArray) {
    QUIRE_ASSIGN_OR_RETURN(T scalar, get<T>(key));
    return std::vector<T>(n, scalar);
  }
  QUIRE_ASSIGN_OR_RETURN(std::vector<T> values, get_array<T>(key));
  if (values.size() < n) {
    return error(ErrorCode::kCorrupt, key,
                 fmt::format("found {} values, expected one for each of {} layers", values.size(), n));
  }
  values.resize(n);
  return values;
}

#define QUIRE_INSTANTIATE(T)                                                      \
  template Result<T> Metadata::get<T>(std::string_view) const;                    \
  template Result<std::vector<T>> Metadata::get_array<T>(std::string_view) const; \
  template Result<std::vector<T>> Metadata::get_per_layer<T>(std::string_view, size_t) const;
QUIRE_INSTANTIATE(bool)
QUIRE_INSTANTIATE(int32_t)
QUIRE_INSTANTIATE(uint32_t)
QUIRE_INSTANTIATE(int64_t)
QUIRE_INSTANTIATE(uint64_t)
QUIRE_INSTANTIATE(float)
QUIRE_INSTANTIATE(double)
QUIRE_INSTANTIATE(std::string)
QUIRE_INSTANTIATE(std::string_view)
#undef QUIRE_INSTANTIATE

}  // namespace quire

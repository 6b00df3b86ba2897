// Metadata: the key/value part of a GGUF file, read through typed getters only.
//
// Values own their strings; arrays of numbers and strings are views into the file's bytes, so a Metadata must
// not outlive the GgufFile it came from. Immutable after parsing; thread safe to read. Getters are lenient
// about the width of integers and of floats where the value fits, strict about everything else; errors name
// the file, the key, the type found and the type expected.
//
//   QUIRE_ASSIGN_OR_RETURN(uint32_t n_layer, metadata.get<uint32_t>("llama.block_count"));
//   QUIRE_ASSIGN_OR_RETURN(float eps, metadata.get_or<float>("llama.attention.layer_norm_rms_epsilon",
//   1e-5f));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace quire {

// Ids as in the file.
enum class ValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};
const char* value_type_name(ValueType type);  // "u32", "string", "array", ...
// Bytes of one packed value; 0 for strings and arrays (they vary) and for ids outside the enum.
size_t value_type_bytes(ValueType type);

class Metadata {
 public:
  // One value: a scalar, a string, or an array (never nested). Offsets refer to `bytes`.
  struct Value {
    ValueType type = ValueType::kU32;
    ValueType element = ValueType::kU32;  // of arrays
    uint64_t count = 1;                   // of arrays
    std::string_view bytes = {};          // the packed payload in the file (for strings: the text itself)
  };

  Metadata() = default;
  // `source` (a path) opens every message of the getters.
  explicit Metadata(std::string source) : source_(std::move(source)) {}

  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Value* find(std::string_view key) const;                  // null when absent
  const std::vector<std::string>& keys() const { return keys_; }  // in file order

  // Scalars. T: bool, int32_t, uint32_t, int64_t, uint64_t, float, double, std::string, std::string_view.
  // Errors: kNotFound (key missing), kCorrupt (wrong type or out of T's range).
  template <typename T>
  Result<T> get(std::string_view key) const;
  // `fallback` when the key is absent; an error still when it is there with the wrong type.
  template <typename T>
  Result<T> get_or(std::string_view key, T fallback) const {
    return contains(key) ? get<T>(key) : Result<T>(std::move(fallback));
  }
  // Arrays, converted element by element. T: as above (std::string_view points into the file).
  template <typename T>
  Result<std::vector<T>> get_array(std::string_view key) const;
  // A scalar counts as an array of `n` equal values; an array must hold at least `n`. For per-layer settings:
  // n above kMaxLayers is refused (kCorrupt), as it stems from a damaged layer count.
  template <typename T>
  Result<std::vector<T>> get_per_layer(std::string_view key, size_t n) const;
  static constexpr size_t kMaxLayers = 65536;

  // For the reader and writer only: adds a value; kCorrupt on an empty or duplicate key.
  Status insert(std::string key, Value value);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Error error(ErrorCode code, std::string_view key, std::string_view problem) const;
  Error type_error(std::string_view key, const Value& found, std::string_view expected) const;

  std::string source_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, Value, Hash, std::equal_to<>> values_;
};

}  // namespace quire

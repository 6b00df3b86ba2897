// Keys: metadata lookups with the architecture's prefix, "llama" + "block_count" -> "llama.block_count".
//
// Borrows the metadata. Cheap to copy; thread safe to read.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "gguf/metadata.h"

namespace quire {

// What a real number in a file must be; NaN and infinities never pass.
enum class NumberRange : uint8_t { kFinite, kNotNegative, kPositive };

class Keys {
 public:
  Keys(const Metadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(architecture) {}

  std::string full(std::string_view name) const { return fmt::format("{}.{}", prefix_, name); }
  bool contains(std::string_view name) const { return metadata_.contains(full(name)); }

  template <typename T>
  Result<T> get(std::string_view name) const {
    return metadata_.get<T>(full(name));
  }
  template <typename T>
  Result<T> get_or(std::string_view name, T fallback) const {
    return metadata_.get_or<T>(full(name), std::move(fallback));
  }
  // An integer in [low, high]; `fallback` when the key is absent. Errors: kCorrupt with the range.
  Result<int64_t> integer(std::string_view name, int64_t low, int64_t high) const;
  Result<int64_t> integer_or(std::string_view name, int64_t low, int64_t high, int64_t fallback) const;

  // A real number within `range`. Errors: kCorrupt naming the key, what was found and what was expected.
  Result<float> number(std::string_view name, NumberRange range) const;
  Result<float> number_or(std::string_view name, NumberRange range, float fallback) const;

  const Metadata& metadata() const { return metadata_; }

 private:
  const Metadata& metadata_;
  std::string prefix_;
};

}  // namespace quire

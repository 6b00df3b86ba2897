// RawGguf: writes GGUF bytes field by field, without any of the writer's checks, so that tests can build
// damaged files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.h"

namespace quire::testing {

class RawGguf {
 public:
  // A version 3 header that announces this many tensors and keys.
  static RawGguf with_counts(int64_t n_tensors, int64_t n_keys) {
    return RawGguf().text("GGUF").value(uint32_t{3}).value(n_tensors).value(n_keys);
  }

  template <typename T>
  RawGguf& value(T v) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &v, sizeof(T));
    bytes_.append(bytes, sizeof(T));
    return *this;
  }
  RawGguf& text(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  RawGguf& string(std::string_view s) { return value(uint64_t{s.size()}).text(s); }
  // A key and its type; the value follows by value(), string() or array().
  RawGguf& key(std::string_view name, ValueType type) {
    return string(name).value(static_cast<uint32_t>(type));
  }
  RawGguf& array(ValueType element, uint64_t count) {
    return value(static_cast<uint32_t>(element)).value(count);
  }
  RawGguf& tensor(std::string_view name, std::vector<int64_t> dims, uint32_t type, uint64_t offset) {
    string(name).value(static_cast<uint32_t>(dims.size()));
    for (int64_t dim : dims) value(dim);
    return value(type).value(offset);
  }
  // Zeros up to a multiple of `alignment`, then `n` bytes of data.
  RawGguf& data(size_t n, size_t alignment = 32) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
    bytes_.append(n, '\x11');
    return *this;
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

}  // namespace quire::testing

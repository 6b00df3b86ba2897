// ByteCursor: reads GGUF fields from bytes that nobody vouches for.
//
// Every read is compared with the bytes left first. Errors are kCorrupt and name the file, the subject (which
// key or tensor is being read), the field, what was found and what was expected. Internal to gguf/; views the
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gguf/packed_value.h"

namespace quire::gguf_internal {

class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, std::string file)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), file_(std::move(file)) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return text_.size() - position_; }
  const std::string& file() const { return file_; }

  // What the following reads belong to: "key 3", "tensor 'output.weight'"; empty for the header itself.
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  template <typename T>
  Result<T> read(std::string_view field) {
    if (left() < sizeof(T)) return short_error(field, sizeof(T));
    const T value = load<T>(text_.data() + position_);
    position_ += sizeof(T);
    return value;
  }
  // The next `size` bytes.
  Result<std::string_view> read_bytes(uint64_t size, std::string_view field);
  // A length and that many bytes; more than `max_size` is refused.
  Result<std::string_view> read_string(uint64_t max_size, std::string_view field);
  // Passes over `count` packed strings in one pass and returns the bytes they take.
  Result<std::string_view> skip_strings(uint64_t count);

  Error error(std::string_view field, std::string_view problem, ErrorCode code = ErrorCode::kCorrupt) const;

 private:
  Error short_error(std::string_view field, uint64_t needed) const;

  std::string_view text_;
  std::string file_;
  std::string subject_;
  uint64_t position_ = 0;
};

// What the reference implementation refuses too; far below anything that could overflow.
inline constexpr uint64_t kMaxStringBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxArrayCount = uint64_t{1} << 30;
inline constexpr uint64_t kMaxKeyBytes = 65535;      // the format's own limit
inline constexpr uint64_t kMaxTensorNameBytes = 63;  // 64 with the terminator of the reference
inline constexpr uint32_t kMaxDims = 4;
inline constexpr uint64_t kMinAlignment = 8;

}  // namespace quire::gguf_internal

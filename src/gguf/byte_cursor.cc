#include "gguf/byte_cursor.h"

namespace quire::gguf_internal {

Error ByteCursor::error(std::string_view field, std::string_view problem, ErrorCode code) const {
  return make_error(code, "{}: {}{}{}: {}", file_, subject_, subject_.empty() ? "" : " ", field, problem);
}

Error ByteCursor::short_error(std::string_view field, uint64_t needed) const {
  return error(field, fmt::format("needs {} bytes at offset {}, the file has {} left (is it complete?)",
                                  needed, position_, left()));
}

Result<std::string_view> ByteCursor::read_bytes(uint64_t size, std::string_view field) {
  if (left() < size) return short_error(field, size);
  const std::string_view bytes = text_.substr(position_, size);
  position_ += size;
  return bytes;
}

Result<std::string_view> ByteCursor::read_string(uint64_t max_size, std::string_view field) {
  QUIRE_ASSIGN_OR_RETURN(const uint64_t size, read<uint64_t>(field));
  if (size > max_size && size <= left()) {
    return error(field, fmt::format("a length of {} bytes, the limit is {}", size, max_size));
  }
  return read_bytes(size, field);
}

Result<std::string_view> ByteCursor::skip_strings(uint64_t count) {
  const uint64_t begin = position_;
  for (uint64_t i = 0; i < count; ++i) {
    if (left() < sizeof(uint64_t)) return short_error(fmt::format("element {}", i), sizeof(uint64_t));
    const auto size = load<uint64_t>(text_.data() + position_);
    position_ += sizeof(uint64_t);
    if (left() < size) return short_error(fmt::format("element {}", i), size);
    position_ += size;
  }
  return text_.substr(begin, position_ - begin);
}

}  // namespace quire::gguf_internal

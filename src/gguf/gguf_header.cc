#include "gguf/gguf_header.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>

#include "gguf/byte_cursor.h"
#include "gguf/packed_value.h"
#include "gguf/printable.h"

namespace quire {
namespace {

using gguf_internal::kMaxDims;
using gguf_internal::kMaxKeyBytes;
using gguf_internal::kMaxTensorNameBytes;
using gguf_internal::kMinAlignment;
using gguf_internal::kValueTypeOf;
using gguf_internal::load;

constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint32_t kVersion = 3;

template <typename T>
void append(std::string& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.push_back(value ? 1 : 0);
  } else {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
}

void append_string(std::string& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out += text;
}

uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

Error tensor_error(const GgufTensorSpec& tensor, std::string_view problem) {
  return make_error(ErrorCode::kInvalidArgument, "tensor '{}': {}", printable(tensor.name), problem);
}

Result<uint64_t> tensor_bytes(const GgufTensorSpec& tensor) {
  const ElementTypeInfo& info = element_type_info(tensor.type);
  if (tensor.dims.size() > kMaxDims) {
    return tensor_error(tensor,
                        fmt::format("{} dimensions, expected at most {}", tensor.dims.size(), kMaxDims));
  }
  const int64_t n_cols = tensor.dims.empty() ? 1 : tensor.dims[0];
  const std::optional<size_t> row = row_bytes(tensor.type, n_cols);
  if (!row) {
    return tensor_error(tensor, fmt::format("a row of {}, expected a multiple of {} (the block of {})",
                                            n_cols, info.block_elems, info.name));
  }
  int64_t n_elems = n_cols;
  uint64_t bytes = *row;
  for (size_t i = 1; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] < 0 || __builtin_mul_overflow(n_elems, tensor.dims[i], &n_elems) ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.dims[i]), &bytes)) {
      return tensor_error(tensor,
                          fmt::format("dimension {} is {}: negative or too large", i, tensor.dims[i]));
    }
  }
  return bytes;
}

Status check_name(const GgufTensorSpec& tensor) {
  const std::string& name = tensor.name;
  if (name.empty() || name.size() > kMaxTensorNameBytes || name.find('\0') != std::string::npos) {
    return tensor_error(tensor, fmt::format("a name of {} bytes, expected 1 to {} without NUL", name.size(),
                                            kMaxTensorNameBytes));
  }
  return {};
}

}  // namespace

template <typename T>
void GgufHeader::set(std::string_view key, T value) {
  Entry entry{.key = std::string(key), .type = kValueTypeOf<T>};
  if constexpr (std::is_same_v<T, std::string_view>) {
    entry.payload = value;
  } else {
    append(entry.payload, value);
  }
  put(std::move(entry));
}

template <typename T>
void GgufHeader::set_array(std::string_view key, std::span<const T> values) {
  Entry entry{
      .key = std::string(key), .type = ValueType::kArray, .element = kValueTypeOf<T>, .count = values.size()};
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      append_string(entry.payload, value);
    } else {
      append(entry.payload, value);
    }
  }
  put(std::move(entry));
}

void GgufHeader::set_value(std::string_view key, const Metadata::Value& value) {
  put({.key = std::string(key),
       .type = value.type,
       .element = value.element,
       .count = value.count,
       .payload = std::string(value.bytes)});
}

void GgufHeader::put(Entry entry) {
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& other) { return other.key == entry.key; });
  if (same == entries_.end()) {
    entries_.push_back(std::move(entry));
  } else {
    *same = std::move(entry);
  }
}

Result<uint32_t> GgufHeader::alignment() const {
  for (const Entry& entry : entries_) {
    if (entry.key != kAlignmentKey) continue;
    const uint32_t value = entry.type == ValueType::kU32 ? load<uint32_t>(entry.payload.data()) : 0;
    if (!std::has_single_bit(value) || value < kMinAlignment) {
      return make_error(ErrorCode::kInvalidArgument,
                        "key '{}': expected a u32 that is a power of two and at least {}", kAlignmentKey,
                        kMinAlignment);
    }
    return value;
  }
  return uint32_t{32};
}

Result<GgufLayout> GgufHeader::layout() const {
  GgufLayout layout;
  QUIRE_ASSIGN_OR_RETURN(layout.alignment, alignment());

  std::string out = "GGUF";
  append(out, kVersion);
  append(out, static_cast<int64_t>(tensors_.size()));
  append(out, static_cast<int64_t>(entries_.size()));
  for (const Entry& entry : entries_) {
    if (entry.key.empty() || entry.key.size() > kMaxKeyBytes || entry.key.find('\0') != std::string::npos) {
      return make_error(ErrorCode::kInvalidArgument, "key '{}': {} bytes, expected 1 to {} without NUL",
                        printable(entry.key), entry.key.size(), kMaxKeyBytes);
    }
    append_string(out, entry.key);
    append(out, static_cast<uint32_t>(entry.type));
    if (entry.type == ValueType::kArray) {
      append(out, static_cast<uint32_t>(entry.element));
      append(out, entry.count);
    } else if (entry.type == ValueType::kString) {
      append(out, static_cast<uint64_t>(entry.payload.size()));
    }
    out += entry.payload;
  }

  std::unordered_set<std::string_view> names;
  for (const GgufTensorSpec& tensor : tensors_) {
    QUIRE_RETURN_IF_ERROR(check_name(tensor));
    if (!names.insert(tensor.name).second) return tensor_error(tensor, "the name is used twice");
    QUIRE_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(tensor));
    if (bytes > (uint64_t{1} << 62) - layout.data_bytes)
      return tensor_error(tensor, "the file would be too large");
    append_string(out, tensor.name);
    append(out, static_cast<uint32_t>(tensor.dims.size()));
    for (const int64_t dim : tensor.dims) append(out, dim);
    append(out, static_cast<uint32_t>(tensor.type));
    append(out, layout.data_bytes);
    layout.tensors.push_back({.offset = layout.data_bytes, .bytes = bytes});
    layout.data_bytes = round_up(layout.data_bytes + bytes, layout.alignment);
  }
  if (!tensors_.empty()) out.resize(round_up(out.size(), layout.alignment), '\0');

  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  layout.header.assign(begin, begin + out.size());
  return layout;
}

#define QUIRE_INSTANTIATE(T)                             \
  template void GgufHeader::set<T>(std::string_view, T); \
  template void GgufHeader::set_array<T>(std::string_view, std::span<const T>);
QUIRE_INSTANTIATE(uint8_t)
QUIRE_INSTANTIATE(int8_t)
QUIRE_INSTANTIATE(uint16_t)
QUIRE_INSTANTIATE(int16_t)
QUIRE_INSTANTIATE(uint32_t)
QUIRE_INSTANTIATE(int32_t)
QUIRE_INSTANTIATE(uint64_t)
QUIRE_INSTANTIATE(int64_t)
QUIRE_INSTANTIATE(float)
QUIRE_INSTANTIATE(double)
QUIRE_INSTANTIATE(bool)
QUIRE_INSTANTIATE(std::string_view)
#undef QUIRE_INSTANTIATE

}  // namespace quire

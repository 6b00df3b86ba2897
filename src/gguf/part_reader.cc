#include "gguf/part_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "gguf/byte_cursor.h"
#include "gguf/printable.h"

namespace quire::gguf_internal {
namespace {

constexpr std::string_view kAlignmentKey = "general.alignment";

// The fewest bytes an entry can take: what a count is compared with before anything is read or reserved.
constexpr uint64_t kMinKeyBytes = 8 + 1 + 4 + 1;         // length, one letter, type, one-byte value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;  // length, one letter, n_dims, type, offset
// Containers grow with what was really read; this only spares the first few reallocations.
constexpr uint64_t kMaxReserve = 4096;

struct Header {
  uint32_t version = 0;
  uint64_t n_tensors = 0;
  uint64_t n_keys = 0;
};

Error magic_error(const ByteCursor& cursor, std::string_view magic) {
  if (magic == "FUGG") {
    return cursor.error("magic", "found 'FUGG', a big-endian GGUF file; only little-endian files are read",
                        ErrorCode::kUnsupported);
  }
  for (std::string_view old : {"lmgg", "fmgg", "tjgg", "algg"}) {
    if (magic == old) {
      return cursor.error("magic", "found a GGML file from before GGUF; convert the model to GGUF",
                          ErrorCode::kUnsupported);
    }
  }
  return cursor.error("magic", fmt::format("found '{}', expected 'GGUF': not a GGUF file", printable(magic)));
}

Status check_version(const ByteCursor& cursor, uint32_t version) {
  if (version == 2 || version == 3) return {};
  if (version != 0 && (version & 0xffff) == 0) {
    return cursor.error("version",
                        "the bytes are swapped, a big-endian file; only little-endian files are read",
                        ErrorCode::kUnsupported);
  }
  const char* hint = version == 1 ? " (too old, convert the model again)" : "";
  return cursor.error("version", fmt::format("found {}{}, expected 2 or 3", version, hint),
                      ErrorCode::kUnsupported);
}

// A count that the rest of the file has room for, when each entry takes at least `entry_bytes`.
Result<uint64_t> read_count(ByteCursor& cursor, std::string_view field, uint64_t entry_bytes) {
  QUIRE_ASSIGN_OR_RETURN(const int64_t count, cursor.read<int64_t>(field));
  const uint64_t room = cursor.left() / entry_bytes;
  if (count < 0 || static_cast<uint64_t>(count) > room) {
    return cursor.error(
        field, fmt::format("found {}, the {} bytes left hold at most {}", count, cursor.left(), room));
  }
  return static_cast<uint64_t>(count);
}

Result<Header> read_header(ByteCursor& cursor) {
  if (cursor.left() == 0) return cursor.error("magic", "the file is empty, expected a GGUF file");
  QUIRE_ASSIGN_OR_RETURN(const std::string_view magic, cursor.read_bytes(4, "magic"));
  if (magic != "GGUF") return magic_error(cursor, magic);
  Header header;
  QUIRE_ASSIGN_OR_RETURN(header.version, cursor.read<uint32_t>("version"));
  QUIRE_RETURN_IF_ERROR(check_version(cursor, header.version));
  QUIRE_ASSIGN_OR_RETURN(header.n_tensors, read_count(cursor, "tensor count", kMinTensorBytes));
  QUIRE_ASSIGN_OR_RETURN(header.n_keys, read_count(cursor, "key count", kMinKeyBytes));
  return header;
}

Result<ValueType> read_value_type(ByteCursor& cursor, std::string_view field) {
  QUIRE_ASSIGN_OR_RETURN(const uint32_t id, cursor.read<uint32_t>(field));
  if (id > static_cast<uint32_t>(ValueType::kF64)) {
    return cursor.error(field, fmt::format("found {}, expected a value type from 0 to 12", id));
  }
  return static_cast<ValueType>(id);
}

Result<Metadata::Value> read_array(ByteCursor& cursor) {
  Metadata::Value value{.type = ValueType::kArray};
  QUIRE_ASSIGN_OR_RETURN(value.element, read_value_type(cursor, "array element type"));
  if (value.element == ValueType::kArray) {
    return cursor.error("array element type", "found array; nested arrays are not part of the format");
  }
  QUIRE_ASSIGN_OR_RETURN(value.count, cursor.read<uint64_t>("array count"));
  const bool strings = value.element == ValueType::kString;
  const uint64_t element_bytes = strings ? sizeof(uint64_t) : value_type_bytes(value.element);
  const uint64_t room = std::min(cursor.left() / element_bytes, kMaxArrayCount);
  if (value.count > room) {
    return cursor.error("array count",
                        fmt::format("found {} elements of {}, the {} bytes left hold at most {}", value.count,
                                    value_type_name(value.element), cursor.left(), room));
  }
  if (strings) {
    QUIRE_ASSIGN_OR_RETURN(value.bytes, cursor.skip_strings(value.count));
  } else {
    QUIRE_ASSIGN_OR_RETURN(value.bytes, cursor.read_bytes(value.count * element_bytes, "array"));
  }
  return value;
}

Result<Metadata::Value> read_value(ByteCursor& cursor) {
  Metadata::Value value;
  QUIRE_ASSIGN_OR_RETURN(value.type, read_value_type(cursor, "value type"));
  if (value.type == ValueType::kArray) return read_array(cursor);
  if (value.type == ValueType::kString) {
    QUIRE_ASSIGN_OR_RETURN(value.bytes, cursor.read_string(kMaxStringBytes, "string"));
  } else {
    QUIRE_ASSIGN_OR_RETURN(value.bytes, cursor.read_bytes(value_type_bytes(value.type), "value"));
  }
  return value;
}

Result<Metadata> read_metadata(ByteCursor& cursor, uint64_t n_keys) {
  Metadata metadata(cursor.file());
  for (uint64_t i = 0; i < n_keys; ++i) {
    cursor.set_subject(fmt::format("key {}", i));
    QUIRE_ASSIGN_OR_RETURN(const std::string_view key, cursor.read_string(kMaxKeyBytes, "name"));
    if (key.empty()) return cursor.error("name", "found an empty key");
    cursor.set_subject(fmt::format("key '{}'", printable(key)));
    if (key.find('\0') != std::string_view::npos) return cursor.error("name", "the key contains a NUL byte");
    QUIRE_ASSIGN_OR_RETURN(const Metadata::Value value, read_value(cursor));
    QUIRE_RETURN_IF_ERROR(metadata.insert(std::string(key), value));
  }
  return metadata;
}

// Strict about the type, unlike other integers: the reference refuses anything but a u32 here.
Result<uint32_t> read_alignment(const ByteCursor& cursor, const Metadata& metadata) {
  const Metadata::Value* value = metadata.find(kAlignmentKey);
  if (value == nullptr) return uint32_t{32};
  const auto key_error = [&](std::string_view found) {
    return make_error(ErrorCode::kCorrupt,
                      "{}: key '{}': found {}, expected a u32 that is a power of two and at least {}",
                      cursor.file(), kAlignmentKey, found, kMinAlignment);
  };
  if (value->type != ValueType::kU32) return key_error(value_type_name(value->type));
  const auto alignment = load<uint32_t>(value->bytes.data());
  if (!std::has_single_bit(alignment) || alignment < kMinAlignment)
    return key_error(fmt::format("{}", alignment));
  return alignment;
}

Result<ElementType> read_element_type(ByteCursor& cursor) {
  QUIRE_ASSIGN_OR_RETURN(const uint32_t id, cursor.read<uint32_t>("type"));
  const ElementTypeInfo* info = find_element_type(id);
  if (info != nullptr) return info->type;
  const std::string_view known = describe_unknown_element_type(id);
  return cursor.error(
      "type",
      fmt::format("found id {}{}{}, which this program does not read", id, known.empty() ? "" : ", ", known),
      ErrorCode::kUnsupported);
}

// Fills `dims`; checks signs and that the number of elements can be counted.
Status read_dims(ByteCursor& cursor, std::array<int64_t, 4>& dims) {
  QUIRE_ASSIGN_OR_RETURN(const uint32_t n_dims, cursor.read<uint32_t>("dimension count"));
  if (n_dims > kMaxDims) {
    return cursor.error("dimension count", fmt::format("found {}, expected at most {}", n_dims, kMaxDims));
  }
  dims = {1, 1, 1, 1};
  int64_t n_elems = 1;
  for (uint32_t i = 0; i < n_dims; ++i) {
    const std::string field = fmt::format("dimension {}", i);
    QUIRE_ASSIGN_OR_RETURN(dims[i], cursor.read<int64_t>(field));
    if (dims[i] < 0) return cursor.error(field, fmt::format("found {}, expected 0 or more", dims[i]));
    if (__builtin_mul_overflow(n_elems, dims[i], &n_elems)) {
      return cursor.error(field, fmt::format("found {}, the number of elements overflows", dims[i]));
    }
  }
  return {};
}

// Bytes of the tensor's data.
Result<uint64_t> tensor_bytes(const ByteCursor& cursor, const TensorView& view) {
  const ElementTypeInfo& info = element_type_info(view.type);
  const std::optional<size_t> row = row_bytes(view.type, view.dims[0]);
  if (!row) {
    return cursor.error("dimension 0", fmt::format("found {}, expected a multiple of {} (the block of {})",
                                                   view.dims[0], info.block_elems, info.name));
  }
  uint64_t bytes = *row;
  // A zero dimension can hide the overflow of the others, so the outer product is formed on its own.
  int64_t rows = 1;
  for (size_t i = 1; i < view.dims.size(); ++i) {
    if (__builtin_mul_overflow(rows, view.dims[i], &rows)) {
      return cursor.error("shape", "the number of rows overflows");
    }
  }
  if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(rows), &bytes)) {
    return cursor.error("shape", "the size in bytes overflows");
  }
  return bytes;
}

std::optional<uint64_t> round_up(uint64_t value, uint64_t alignment) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(value, alignment - 1, &sum)) return std::nullopt;
  return sum & ~(alignment - 1);
}

// One directory entry. `end` is where the data of the tensors before it ends, padded; it moves on.
Result<TensorInfo> read_tensor(ByteCursor& cursor, uint64_t index, uint32_t alignment, uint64_t& end) {
  TensorInfo tensor;
  cursor.set_subject(fmt::format("tensor {}", index));
  QUIRE_ASSIGN_OR_RETURN(const std::string_view name, cursor.read_string(kMaxTensorNameBytes, "name"));
  if (name.empty()) return cursor.error("name", "found an empty name");
  tensor.name = name;
  cursor.set_subject(fmt::format("tensor '{}'", printable(name)));
  if (name.find('\0') != std::string_view::npos) return cursor.error("name", "the name contains a NUL byte");
  QUIRE_RETURN_IF_ERROR(read_dims(cursor, tensor.view.dims));
  QUIRE_ASSIGN_OR_RETURN(tensor.view.type, read_element_type(cursor));
  QUIRE_ASSIGN_OR_RETURN(tensor.offset, cursor.read<uint64_t>("offset"));
  QUIRE_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(cursor, tensor.view));
  // Data lies in directory order without gaps, so a damaged offset cannot pass for another tensor's data.
  if (tensor.offset != end) {
    return cursor.error("offset",
                        fmt::format("found {}, expected {} (the end of the tensor before, aligned to {})",
                                    tensor.offset, end, alignment));
  }
  uint64_t data_end = 0;
  const bool overflow = __builtin_add_overflow(end, bytes, &data_end);
  const std::optional<uint64_t> padded = overflow ? std::nullopt : round_up(data_end, alignment);
  if (!padded) return cursor.error("offset", fmt::format("{} + {} bytes overflows", tensor.offset, bytes));
  end = *padded;
  return tensor;
}

// Turns offsets into addresses once the start of the data section is known.
Status place_tensors(std::span<const std::byte> bytes, ByteCursor& cursor, uint32_t alignment,
                     std::vector<TensorInfo>& tensors) {
  const std::optional<uint64_t> start = round_up(cursor.position(), alignment);
  for (TensorInfo& tensor : tensors) {
    const uint64_t size = tensor.view.bytes();
    // start <= bytes.size() is tested before it is subtracted; none of the differences can wrap.
    const bool inside = start && *start <= bytes.size() && tensor.offset <= bytes.size() - *start &&
                        size <= bytes.size() - *start - tensor.offset;
    if (!inside) {
      cursor.set_subject(fmt::format("tensor '{}'", printable(tensor.name)));
      return cursor.error("data",
                          fmt::format("needs {} bytes at {} of the data section, the file ends at {} bytes "
                                      "(is it complete?)",
                                      size, tensor.offset, bytes.size()));
    }
    tensor.offset += *start;
    tensor.view.data = bytes.data() + tensor.offset;
  }
  return {};
}

}  // namespace

Result<GgufPart> read_part(std::span<const std::byte> bytes, const std::string& file) {
  ByteCursor cursor(bytes, file);
  GgufPart part;
  QUIRE_ASSIGN_OR_RETURN(const Header header, read_header(cursor));
  part.version = header.version;
  QUIRE_ASSIGN_OR_RETURN(part.metadata, read_metadata(cursor, header.n_keys));
  QUIRE_ASSIGN_OR_RETURN(part.alignment, read_alignment(cursor, part.metadata));

  part.tensors.reserve(std::min(header.n_tensors, kMaxReserve));
  uint64_t end = 0;
  for (uint64_t i = 0; i < header.n_tensors; ++i) {
    QUIRE_ASSIGN_OR_RETURN(TensorInfo tensor, read_tensor(cursor, i, part.alignment, end));
    part.tensors.push_back(std::move(tensor));
  }
  QUIRE_RETURN_IF_ERROR(place_tensors(bytes, cursor, part.alignment, part.tensors));
  return part;
}

}  // namespace quire::gguf_internal

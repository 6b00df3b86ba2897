// GgufHeader: keys, values and the tensor directory of a GGUF file to be written.
//
// A value type: owns copies of everything it is given. Not thread safe. layout() turns it into bytes;
// GgufWriter (gguf_writer.h) streams the tensors' data behind them.
//
//   GgufHeader header;
//   header.set("general.architecture", "llama");
//   header.set("llama.block_count", uint32_t{2});
//   header.add_tensor({.name = "output_norm.weight", .type = ElementType::kF32, .dims = {64}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gguf/metadata.h"
#include "tensor/element_type.h"

namespace quire {

struct GgufTensorSpec {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims = {};  // contiguous first, at most 4
};

// The bytes of a header and where the tensors' data goes.
struct GgufLayout {
  struct Extent {
    uint64_t offset = 0;  // from the start of the data section
    uint64_t bytes = 0;   // without the padding that follows
  };
  std::vector<std::byte> header;  // padded: the data section starts right behind it
  std::vector<Extent> tensors;    // in the order they were added
  uint64_t data_bytes = 0;        // with padding
  uint32_t alignment = 32;
};

class GgufHeader {
 public:
  // Sets a value, replacing an earlier one of the key in place. T decides the type in the file: uint8_t,
  // int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, float, double, bool, std::string_view.
  // `general.alignment` (uint32_t) is obeyed.
  template <typename T>
  void set(std::string_view key, T value);
  void set(std::string_view key, const char* value) { set(key, std::string_view(value)); }
  void set(std::string_view key, const std::string& value) { set(key, std::string_view(value)); }
  template <typename T>
  void set_array(std::string_view key, std::span<const T> values);
  // Takes over a value as it stands in another file.
  void set_value(std::string_view key, const Metadata::Value& value);

  void add_tensor(GgufTensorSpec tensor) { tensors_.push_back(std::move(tensor)); }
  std::span<const GgufTensorSpec> tensors() const { return tensors_; }

  // Errors (kInvalidArgument, naming the key or tensor): an empty, over-long or NUL-holding key; an alignment
  // that is no u32 power of two of at least 8; a tensor name that is empty, longer than 63 bytes or used
  // twice; more than 4 or negative dimensions; a row that is no multiple of its block; sizes that overflow.
  Result<GgufLayout> layout() const;

 private:
  struct Entry {
    std::string key;
    ValueType type = ValueType::kU32;
    ValueType element = ValueType::kU32;
    uint64_t count = 1;
    std::string payload = {};
  };

  void put(Entry entry);
  Result<uint32_t> alignment() const;

  std::vector<Entry> entries_;
  std::vector<GgufTensorSpec> tensors_;
};

}  // namespace quire

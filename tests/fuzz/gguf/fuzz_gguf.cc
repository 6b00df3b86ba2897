// Any bytes at all: parse them as a GGUF file and read everything the parser vouches for.
#include <cstddef>
#include <cstdint>
#include <span>

#include "gguf/gguf_file.h"

namespace quire {
namespace {

// Keeps reads alive without printing.
volatile uint64_t g_sink = 0;

template <typename T>
void read_as(const Metadata& metadata, const std::string& key) {
  if (const Result<T> value = metadata.get<T>(key); value.ok()) g_sink = g_sink + 1;
  if (const Result<std::vector<T>> values = metadata.get_array<T>(key); values.ok()) {
    g_sink = g_sink + values->size();
    if constexpr (std::is_same_v<T, std::string_view>) {
      for (std::string_view text : *values) {
        if (!text.empty()) g_sink = g_sink + static_cast<unsigned char>(text.back());
      }
    }
  }
  if (const Result<std::vector<T>> values = metadata.get_per_layer<T>(key, 3); values.ok())
    g_sink = g_sink + 1;
}

void read_everything(const GgufFile& file) {
  for (const std::string& key : file.metadata().keys()) {
    read_as<bool>(file.metadata(), key);
    read_as<int32_t>(file.metadata(), key);
    read_as<uint64_t>(file.metadata(), key);
    read_as<float>(file.metadata(), key);
    read_as<std::string_view>(file.metadata(), key);
  }
  for (const TensorInfo& tensor : file.tensors()) {
    if (file.find_tensor(tensor.name) != &tensor) __builtin_trap();
    const size_t bytes = tensor.view.bytes();
    if (bytes == 0) continue;
    g_sink = g_sink + static_cast<uint64_t>(tensor.view.data[0]) +
             static_cast<uint64_t>(tensor.view.data[bytes - 1]);
    // The last row must end where the tensor does.
    const std::byte* end = tensor.view.row(tensor.view.n_rows() - 1) + tensor.view.row_stride();
    if (end != tensor.view.data + bytes) __builtin_trap();
  }
}

}  // namespace
}  // namespace quire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const quire::Result<quire::GgufFile> file = quire::GgufFile::parse(bytes, "fuzz");
  if (file.ok()) quire::read_everything(*file);
  return 0;
}

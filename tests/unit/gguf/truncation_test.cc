// A complete file cut at every byte is refused, never misread; so is one with a byte changed, unless it is
// still valid.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "gguf/gguf_file.h"
#include "gguf/gguf_header.h"

namespace quire {
namespace {

// A small file that uses every part of the format. Its last tensor ends with the file.
std::vector<std::byte> small_file() {
  GgufHeader header;
  header.set("general.architecture", "test");
  header.set("test.block_count", uint32_t{2});
  header.set("test.eps", 1e-5);
  header.set("test.flag", true);
  header.set_array<std::string_view>("tokens", std::vector<std::string_view>{"a", "bc", "def"});
  header.set_array<int16_t>("kinds", std::vector<int16_t>{1, 2, 3});
  header.add_tensor({.name = "a.weight", .type = ElementType::kQ8_0, .dims = {32, 3}});
  header.add_tensor({.name = "b.weight", .type = ElementType::kF32, .dims = {8, 2}});
  GgufLayout layout = header.layout().value();
  layout.header.resize(layout.header.size() + layout.data_bytes, std::byte{0x5a});
  return layout.header;
}

// Reads every value and every byte of tensor data that the reader vouches for.
uint64_t touch_everything(const GgufFile& file) {
  uint64_t sum = 0;
  for (const std::string& key : file.metadata().keys()) {
    if (auto text = file.metadata().get<std::string>(key); text.ok()) sum += text->size();
    if (auto words = file.metadata().get_array<std::string_view>(key); words.ok()) {
      for (std::string_view word : *words) {
        for (char c : word) sum += static_cast<unsigned char>(c);
      }
    }
    if (auto numbers = file.metadata().get_array<int64_t>(key); numbers.ok()) sum += numbers->size();
  }
  for (const TensorInfo& tensor : file.tensors()) {
    for (size_t i = 0; i < tensor.view.bytes(); ++i) sum += static_cast<uint64_t>(tensor.view.data[i]);
  }
  return sum;
}

TEST(Truncation, EveryPrefixIsRefused) {
  const std::vector<std::byte> whole = small_file();
  {
    const Result<GgufFile> file = GgufFile::parse(whole, "whole");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_GT(touch_everything(*file), 0u);
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly this size, so that a sanitizer sees any read past its end.
    const auto copy = std::make_unique<std::byte[]>(size);
    std::memcpy(copy.get(), whole.data(), size);
    const Result<GgufFile> file = GgufFile::parse({copy.get(), size}, "cut");
    ASSERT_FALSE(file.ok()) << "cut to " << size << " of " << whole.size() << " bytes";
    EXPECT_FALSE(file.error().message.empty());
  }
}

TEST(Corruption, EveryChangedByteIsReadSafely) {
  const std::vector<std::byte> whole = small_file();
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> damaged = whole;
      damaged[i] ^= static_cast<std::byte>(flip);
      const Result<GgufFile> file = GgufFile::parse(damaged, "damaged");
      if (file.ok()) {
        touch_everything(*file);
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 300u);
}

}  // namespace
}  // namespace quire

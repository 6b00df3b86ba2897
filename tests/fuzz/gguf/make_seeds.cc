// Writes the seed corpus of fuzz_gguf: gguf_seeds FOLDER. Run it again when the format's use changes.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gguf/gguf_writer.h"

namespace quire {
namespace {

GgufHeader every_value_type() {
  GgufHeader header;
  header.set("general.architecture", "llama");
  header.set("u8", uint8_t{1});
  header.set("i8", int8_t{-1});
  header.set("u16", uint16_t{2});
  header.set("i16", int16_t{-2});
  header.set("u32", uint32_t{3});
  header.set("i32", int32_t{-3});
  header.set("u64", uint64_t{4});
  header.set("i64", int64_t{-4});
  header.set("f32", 1.5f);
  header.set("f64", 2.5);
  header.set("bool", true);
  return header;
}

GgufHeader arrays() {
  GgufHeader header;
  header.set_array<std::string_view>("tokenizer.ggml.tokens", std::vector<std::string_view>{"<s>", "", "a"});
  header.set_array<float>("tokenizer.ggml.scores", std::vector<float>{0, -1, -2});
  header.set_array<int32_t>("tokenizer.ggml.token_type", std::vector<int32_t>{3, 1, 1});
  header.set_array<bool>("llama.swa", std::array<bool, 2>{true, false});
  return header;
}

GgufHeader tensors() {
  GgufHeader header;
  header.set("general.alignment", uint32_t{16});
  header.add_tensor({.name = "a", .type = ElementType::kF32, .dims = {2, 2}});
  header.add_tensor({.name = "b", .type = ElementType::kQ8_0, .dims = {32, 2}});
  header.add_tensor({.name = "c", .type = ElementType::kF16, .dims = {1, 2, 1, 2}});
  header.add_tensor({.name = "d", .type = ElementType::kF32, .dims = {}});
  return header;
}

GgufHeader split() {
  GgufHeader header;
  header.set("split.no", uint16_t{0});
  header.set("split.count", uint16_t{1});
  header.set("split.tensors.count", int32_t{0});
  return header;
}

Status write(const std::string& path, const GgufHeader& header) {
  QUIRE_ASSIGN_OR_RETURN(const GgufLayout layout, header.layout());
  QUIRE_ASSIGN_OR_RETURN(GgufWriter writer, GgufWriter::create(path, header));
  for (const GgufLayout::Extent& extent : layout.tensors) {
    QUIRE_RETURN_IF_ERROR(writer.append(std::vector<std::byte>(extent.bytes, std::byte{0x3c})));
  }
  return writer.finish();
}

Status write_all(const std::string& folder) {
  QUIRE_RETURN_IF_ERROR(write(folder + "/values.gguf", every_value_type()));
  QUIRE_RETURN_IF_ERROR(write(folder + "/arrays.gguf", arrays()));
  QUIRE_RETURN_IF_ERROR(write(folder + "/tensors.gguf", tensors()));
  return write(folder + "/split.gguf", split());
}

}  // namespace
}  // namespace quire

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gguf_seeds FOLDER\n");
    return 2;
  }
  const quire::Status status = quire::write_all(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

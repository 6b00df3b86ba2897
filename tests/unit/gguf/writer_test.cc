#include "gguf/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "gguf/gguf_file.h"
#include "unit/gguf/temp_folder.h"

namespace quire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempFolder;

std::vector<std::byte> counting_bytes(size_t n, int start) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(static_cast<int>(i) * 7 + start);
  return bytes;
}

// One tensor of every type, of two rows with three blocks each, and some odd shapes.
GgufHeader every_type(uint32_t alignment) {
  GgufHeader header;
  header.set("general.architecture", "test");
  header.set("general.alignment", alignment);
  for (const ElementTypeInfo& info : element_types()) {
    header.add_tensor({.name = info.name, .type = info.type, .dims = {3 * info.block_elems, 2}});
  }
  header.add_tensor({.name = "scalar", .type = ElementType::kF32, .dims = {}});
  header.add_tensor({.name = "empty", .type = ElementType::kF32, .dims = {8, 0}});
  header.add_tensor({.name = "four", .type = ElementType::kF32, .dims = {1, 2, 3, 4}});
  return header;
}

class RoundTrip : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RoundTrip, EveryTypeThroughAFile) {
  const TempFolder folder;
  const std::string path = folder.path("model.gguf");
  const GgufHeader header = every_type(GetParam());
  const GgufLayout layout = header.layout().value();
  {
    GgufWriter writer = GgufWriter::create(path, header).value();
    EXPECT_FALSE(std::filesystem::exists(path));
    for (size_t i = 0; i < layout.tensors.size(); ++i) {
      const std::vector<std::byte> data = counting_bytes(layout.tensors[i].bytes, static_cast<int>(i));
      const std::span<const std::byte> span(data);
      const size_t cut = span.size() / 3;
      ASSERT_TRUE(writer.append(span.first(cut)).ok());
      ASSERT_TRUE(writer.append(span.subspan(cut)).ok());
    }
    ASSERT_TRUE(writer.finish().ok());
  }
  EXPECT_EQ(std::filesystem::file_size(path), layout.header.size() + layout.data_bytes);
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));

  for (const FileAccess access : {FileAccess::kMap, FileAccess::kRead}) {
    const GgufFile file = GgufFile::open(path, {.access = access}).value();
    EXPECT_EQ(file.alignment(), GetParam());
    EXPECT_EQ(file.version(), 3u);
    ASSERT_EQ(file.tensors().size(), layout.tensors.size());
    uint64_t sum = 0;
    for (size_t i = 0; i < layout.tensors.size(); ++i) {
      const TensorInfo& tensor = file.tensors()[i];
      ASSERT_EQ(tensor.name, header.tensors()[i].name);
      EXPECT_EQ(tensor.view.type, header.tensors()[i].type);
      EXPECT_EQ(tensor.offset % GetParam(), 0u);
      ASSERT_EQ(tensor.view.bytes(), layout.tensors[i].bytes);
      const std::vector<std::byte> data = counting_bytes(tensor.view.bytes(), static_cast<int>(i));
      EXPECT_TRUE(std::equal(data.begin(), data.end(), tensor.view.data)) << tensor.name;
      EXPECT_EQ(file.find_tensor(tensor.name), &tensor);
      sum += tensor.view.bytes();
    }
    EXPECT_EQ(file.data_bytes(), sum);
    EXPECT_EQ(file.find_tensor("four")->view.dims, (std::array<int64_t, 4>{1, 2, 3, 4}));
    EXPECT_EQ(file.find_tensor("absent"), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Alignments, RoundTrip, ::testing::Values(8, 32, 64, 4096));

TEST(GgufWriter, CopiedValuesAreTheSameBytes) {
  GgufHeader header;
  header.set("general.architecture", "test");
  header.set("a.count", int16_t{-5});
  header.set_array<std::string_view>("a.words", std::vector<std::string_view>{"one", "two"});
  header.set_array<float>("a.scores", std::vector<float>{1, 2});
  const GgufLayout layout = header.layout().value();
  const GgufFile file = GgufFile::parse(layout.header, "memory").value();
  GgufHeader copy;
  for (const std::string& key : file.metadata().keys()) copy.set_value(key, *file.metadata().find(key));
  EXPECT_EQ(copy.layout().value().header, layout.header);
  copy.set("a.count", int16_t{-5});  // replaces in place
  EXPECT_EQ(copy.layout().value().header, layout.header);
}

TEST(GgufWriter, RefusesTooMuchAndTooLittleData) {
  const TempFolder folder;
  const std::string path = folder.path("model.gguf");
  GgufHeader header;
  header.add_tensor({.name = "a", .type = ElementType::kF32, .dims = {4}});
  header.add_tensor({.name = "b", .type = ElementType::kF32, .dims = {4}});
  const std::vector<std::byte> data(32);
  const std::span<const std::byte> span(data);
  {
    GgufWriter writer = GgufWriter::create(path, header).value();
    EXPECT_THAT(writer.append(span).error().message,
                AllOf(HasSubstr("'a'"), HasSubstr("16"), HasSubstr("32")));
    ASSERT_TRUE(writer.append(span.first(16)).ok());
    EXPECT_THAT(writer.finish().error().message, AllOf(HasSubstr("'b'"), HasSubstr("16 bytes")));
    ASSERT_TRUE(writer.append(span.first(16)).ok());
    EXPECT_THAT(writer.append(span).error().message, HasSubstr("after the last tensor"));
    EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // an unfinished writer leaves nothing behind
}

TEST(GgufWriter, ReportsAFolderThatIsNotThere) {
  const Result<GgufWriter> writer = GgufWriter::create("/nonexistent/folder/x.gguf", GgufHeader());
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, ErrorCode::kIo);
  EXPECT_THAT(writer.error().message, HasSubstr("/nonexistent/folder/x.gguf"));
}

TEST(GgufHeader, RefusesWhatTheReaderWouldRefuse) {
  const auto problem = [](auto fill) {
    GgufHeader header;
    fill(header);
    const Result<GgufLayout> layout = header.layout();
    return layout.ok() ? "no error" : layout.error().message;
  };
  const auto tensor = [](GgufTensorSpec spec) {
    return [spec](GgufHeader& header) { header.add_tensor(spec); };
  };
  EXPECT_THAT(problem([](GgufHeader& h) { h.set("", true); }), HasSubstr("key ''"));
  EXPECT_THAT(problem([](GgufHeader& h) { h.set("general.alignment", uint32_t{48}); }),
              HasSubstr("alignment"));
  EXPECT_THAT(problem([](GgufHeader& h) { h.set("general.alignment", int32_t{32}); }),
              HasSubstr("alignment"));
  EXPECT_THAT(problem(tensor({.name = "", .dims = {1}})), HasSubstr("a name of 0 bytes"));
  EXPECT_THAT(problem(tensor({.name = std::string(64, 'x'), .dims = {1}})), HasSubstr("64 bytes"));
  EXPECT_THAT(problem(tensor({.name = "t", .type = ElementType::kQ8_0, .dims = {31}})),
              HasSubstr("multiple of 32"));
  EXPECT_THAT(problem(tensor({.name = "t", .dims = {1, 1, 1, 1, 1}})), HasSubstr("5 dimensions"));
  EXPECT_THAT(problem(tensor({.name = "t", .dims = {1, -1}})), HasSubstr("dimension 1"));
  EXPECT_THAT(problem(tensor({.name = "t", .dims = {int64_t{1} << 40, int64_t{1} << 40}})),
              HasSubstr("too large"));
  EXPECT_THAT(problem([](GgufHeader& h) {
                h.add_tensor({.name = "t", .dims = {1}});
                h.add_tensor({.name = "t", .dims = {1}});
              }),
              HasSubstr("twice"));
}

}  // namespace
}  // namespace quire

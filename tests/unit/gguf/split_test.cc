#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "gguf/gguf_file.h"
#include "gguf/gguf_writer.h"
#include "gguf/split_name.h"
#include "unit/gguf/temp_folder.h"

namespace quire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempFolder;

struct Part {
  uint16_t no = 0;
  uint16_t count = 3;
  std::vector<std::string> tensors = {};
};

// Writes one part; every tensor holds 8 floats whose bytes all equal the part number plus one.
void write_part(const std::string& path, const Part& part, int32_t n_tensors) {
  GgufHeader header;
  if (part.no == 0) header.set("general.architecture", "test");
  header.set("split.no", part.no);
  header.set("split.count", part.count);
  header.set("split.tensors.count", n_tensors);
  for (const std::string& name : part.tensors) header.add_tensor({.name = name, .dims = {8}});
  GgufWriter writer = GgufWriter::create(path, header).value();
  const std::vector<std::byte> data(32, static_cast<std::byte>(part.no + 1));
  for (size_t i = 0; i < part.tensors.size(); ++i) ASSERT_TRUE(writer.append(data).ok());
  ASSERT_TRUE(writer.finish().ok());
}

class SplitFile : public ::testing::Test {
 protected:
  std::string part_path(uint32_t i) const { return split_part_path(folder_.path("m"), i, 3); }
  void write_all(int32_t n_tensors = 3) {
    write_part(part_path(0), {.no = 0}, n_tensors);
    write_part(part_path(1), {.no = 1, .tensors = {"a", "b"}}, n_tensors);
    write_part(part_path(2), {.no = 2, .tensors = {"c"}}, n_tensors);
  }
  std::string problem(const std::string& path) const {
    const Result<GgufFile> file = GgufFile::open(path);
    return file.ok() ? "no error" : file.error().message;
  }
  TempFolder folder_;
};

TEST_F(SplitFile, OpensAllPartsFromTheFirst) {
  write_all();
  for (const FileAccess access : {FileAccess::kMap, FileAccess::kRead}) {
    const GgufFile file = GgufFile::open(part_path(0), {.access = access}).value();
    EXPECT_EQ(file.n_parts(), 3u);
    EXPECT_EQ(file.tensors().size(), 3u);
    EXPECT_EQ(file.metadata().get<std::string>("general.architecture").value(), "test");
    const TensorInfo* b = file.find_tensor("b");
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->part, 1u);
    EXPECT_EQ(b->view.data, file.part(1).bytes().data() + b->offset);
    EXPECT_EQ(b->view.data[31], std::byte{2});
    EXPECT_EQ(file.find_tensor("c")->view.data[0], std::byte{3});
  }
}

TEST_F(SplitFile, StaysValidWhenMoved) {
  write_all();
  GgufFile file = GgufFile::open(part_path(0)).value();
  const GgufFile moved = std::move(file);
  EXPECT_EQ(moved.find_tensor("c")->view.data[0], std::byte{3});
  EXPECT_EQ(moved.find_tensor("a")->name, "a");
}

TEST_F(SplitFile, RefusesALaterPartAndNamesTheFirst) {
  write_all();
  EXPECT_THAT(problem(part_path(1)), AllOf(HasSubstr("part 2 of 3"), HasSubstr("m-00001-of-00003.gguf")));
}

TEST_F(SplitFile, RefusesAMissingPart) {
  write_all();
  std::filesystem::remove(part_path(2));
  EXPECT_THAT(problem(part_path(0)), HasSubstr("m-00003-of-00003.gguf"));
}

TEST_F(SplitFile, RefusesANameThatDoesNotLeadToTheOthers) {
  write_all();
  std::filesystem::rename(part_path(0), folder_.path("renamed.gguf"));
  EXPECT_THAT(problem(folder_.path("renamed.gguf")), HasSubstr("-00001-of-00003.gguf"));
}

TEST_F(SplitFile, RefusesPartsInTheWrongOrder) {
  write_all();
  std::filesystem::rename(part_path(1), folder_.path("x"));
  std::filesystem::rename(part_path(2), part_path(1));
  std::filesystem::rename(folder_.path("x"), part_path(2));
  EXPECT_THAT(problem(part_path(0)), AllOf(HasSubstr("part 3 of 3"), HasSubstr("expected part 2 of 3")));
}

TEST_F(SplitFile, RefusesAPartOfAnotherSplit) {
  write_all();
  write_part(part_path(1), {.no = 1, .count = 4, .tensors = {"a", "b"}}, 3);
  EXPECT_THAT(problem(part_path(0)), HasSubstr("part 2 of 4"));
}

TEST_F(SplitFile, RefusesANameUsedInTwoParts) {
  write_all();
  write_part(part_path(2), {.no = 2, .tensors = {"a"}}, 3);
  EXPECT_THAT(problem(part_path(0)), AllOf(HasSubstr("'a'"), HasSubstr("twice")));
}

TEST_F(SplitFile, RefusesAWrongNumberOfTensors) {
  write_all(4);
  EXPECT_THAT(problem(part_path(0)),
              AllOf(HasSubstr("split.tensors.count"), HasSubstr("4"), HasSubstr("3 tensors")));
}

TEST(SplitName, GoesBothWays) {
  EXPECT_EQ(split_part_path("dir/m", 0, 12), "dir/m-00001-of-00012.gguf");
  EXPECT_EQ(split_prefix("dir/m-00001-of-00012.gguf", 0, 12), "dir/m");
  EXPECT_EQ(split_prefix("dir/m-00001-of-00012.gguf", 1, 12), std::nullopt);
  EXPECT_EQ(split_prefix("-00001-of-00012.gguf", 0, 12), std::nullopt);
  EXPECT_EQ(split_prefix("m.gguf", 0, 12), std::nullopt);
}

TEST(SplitName, IsTakenApart) {
  const std::optional<SplitName> name = parse_split_name("dir/m-00002-of-00012.gguf");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->prefix, "dir/m");
  EXPECT_EQ(name->index, 1u);
  EXPECT_EQ(name->count, 12u);
  for (const char* other : {"m.gguf", "-00001-of-00002.gguf", "m-00000-of-00002.gguf",
                            "m-00003-of-00002.gguf", "m-0001a-of-00002.gguf", "m-00001-of-00002.ggml", ""}) {
    EXPECT_FALSE(parse_split_name(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace quire

#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace quire {
namespace {

class MappedFileTest : public testing::TestWithParam<FileAccess> {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "quire_mapped_file_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string text(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }

  std::filesystem::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Access, MappedFileTest, testing::Values(FileAccess::kMap, FileAccess::kRead),
                         [](const auto& access) {
                           return access.param == FileAccess::kMap ? "Map" : "Read";
                         });

TEST_P(MappedFileTest, HoldsTheBytesOfTheFile) {
  std::string content(3 * 4096 + 17, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  const std::string path = write("data", content);
  const Result<MappedFile> file = MappedFile::open(path, GetParam());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(text(*file), content);
  EXPECT_EQ(file->path(), path);
}

TEST_P(MappedFileTest, EmptyFileIsAnEmptySpan) {
  const Result<MappedFile> file = MappedFile::open(write("empty", ""), GetParam());
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_P(MappedFileTest, StaysReadableAfterTheFileIsRemoved) {
  const std::string path = write("data", "kept");
  const Result<MappedFile> file = MappedFile::open(path, GetParam());
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path);
  EXPECT_EQ(text(*file), "kept");
}

TEST_P(MappedFileTest, ViewsSurviveMoving) {
  MappedFile first = MappedFile::open(write("data", "bytes"), GetParam()).value();
  const std::byte* const data = first.bytes().data();
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT: moved-from is empty by contract
  MappedFile third = MappedFile::open(write("other", "other"), GetParam()).value();
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), data);
  EXPECT_EQ(text(third), "bytes");
}

TEST_P(MappedFileTest, AdviceTakesAnyRangeAndKeepsTheBytes) {
  const std::string content(5 * 4096 + 100, 'q');
  const MappedFile file = MappedFile::open(write("data", content), GetParam()).value();
  const size_t huge = std::numeric_limits<size_t>::max();
  for (const auto& [offset, size] : {std::pair<size_t, size_t>{0, content.size()},
                                     {1, 4096},
                                     {4096, 0},
                                     {5000, 20},
                                     {4096, huge},
                                     {content.size(), 1},
                                     {huge, huge}}) {
    file.advise_will_need(offset, size);
    file.advise_dont_need(offset, size);
  }
  EXPECT_EQ(text(file), content);
}

TEST_P(MappedFileTest, NamesWhatIsWrong) {
  const auto code = [](const std::string& path) {
    const Result<MappedFile> file = MappedFile::open(path, GetParam());
    EXPECT_FALSE(file.ok()) << path;
    return file.ok() ? ErrorCode::kInternal : file.error().code;
  };
  EXPECT_EQ(code(folder_ / "missing"), ErrorCode::kNotFound);
  EXPECT_EQ(code(write("file", "x") + "/below"), ErrorCode::kNotFound);
  EXPECT_EQ(code(""), ErrorCode::kNotFound);
  EXPECT_EQ(code(folder_), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(std::string("a\0b", 3)), ErrorCode::kInvalidArgument);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code(pipe), ErrorCode::kInvalidArgument);  // and does not wait for a writer
  const std::string loop = folder_ / "loop";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_EQ(code(loop), ErrorCode::kIo);
}

TEST_P(MappedFileTest, MessagesCarryThePath) {
  const std::string path = folder_ / "missing.gguf";
  const Result<MappedFile> file = MappedFile::open(path, GetParam());
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find(path), std::string::npos);
}

}  // namespace
}  // namespace quire

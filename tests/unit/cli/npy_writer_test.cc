#include "cli/npy_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace quire::cli {
namespace {

using ::testing::HasSubstr;

std::string temp_path() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "quire-" + info->name() + ".npy";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(NpyWriter, WritesHeaderAndRows) {
  const std::string path = temp_path();
  {
    Result<NpyWriter> writer = NpyWriter::create(path, 2, 3);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    for (const auto& row : rows) ASSERT_TRUE(writer->write_row(row).ok());
    ASSERT_TRUE(writer->finish().ok());
  }
  const std::string bytes = contents(path);
  ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const size_t header = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_THAT(bytes.substr(10, header), HasSubstr("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)"));
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  ASSERT_EQ(bytes.size(), 10 + header + 6 * sizeof(float));
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 6.0f);
  std::filesystem::remove(path);
}

TEST(NpyWriter, AFileThatWasNotFinishedIsRemoved) {
  const std::string path = temp_path();
  {
    Result<NpyWriter> writer = NpyWriter::create(path, 2, 1);
    ASSERT_TRUE(writer.ok());
    const float row[] = {1};
    ASSERT_TRUE(writer->write_row(row).ok());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(NpyWriter, TroubleNamesTheFile) {
  const Result<NpyWriter> writer = NpyWriter::create("/no/such/folder/a.npy", 1, 1);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, ErrorCode::kIo);
  EXPECT_THAT(writer.error().message, HasSubstr("/no/such/folder/a.npy"));

  Result<NpyWriter> full = NpyWriter::create("/dev/full", 1, 1);
  ASSERT_TRUE(full.ok());
  const float row[] = {1};
  const Status written = full->write_row(row);
  EXPECT_FALSE(written.ok() && full->finish().ok());
}

}  // namespace
}  // namespace quire::cli

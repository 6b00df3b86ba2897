#include "cli/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace quire::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "quire-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    ::setenv("QUIRE_HOME", pattern.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("QUIRE_HOME");
    fs::remove_all(home_);
  }
  void put(const std::string& name, size_t bytes) const {
    fs::create_directories((home_ / "models" / name).parent_path());
    std::ofstream(home_ / "models" / name) << std::string(bytes, 'x');
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const ModelEntry& entry : list_models(model_folder().value())) result.push_back(entry.name);
    return result;
  }

  fs::path home_;
};

TEST_F(ModelFolder, ListsFilesByNameAndSplitFilesOnce) {
  EXPECT_TRUE(list_models(model_folder().value()).empty());
  put("b.gguf", 3);
  put("a/deep.gguf", 5);
  put("notes.txt", 1);
  put("big-00001-of-00002.gguf", 10);
  put("big-00002-of-00002.gguf", 20);
  fs::create_directories(home_ / "models/folder.gguf");
  EXPECT_THAT(names(), ElementsAre("a/deep", "b", "big"));
  EXPECT_EQ(list_models(model_folder().value())[2].bytes, 30u);
}

TEST_F(ModelFolder, ResolvesPathsAndNames) {
  put("b.gguf", 3);
  put("big-00001-of-00002.gguf", 10);
  const std::string folder = (home_ / "models").string();
  EXPECT_EQ(resolve_model("b").value(), folder + "/b.gguf");
  EXPECT_EQ(resolve_model("b.gguf").value(), folder + "/b.gguf");
  EXPECT_EQ(resolve_model("big").value(), folder + "/big-00001-of-00002.gguf");
  EXPECT_EQ(resolve_model(folder + "/b.gguf").value(), folder + "/b.gguf");
  EXPECT_EQ(resolve_model(folder).value(), folder);  // opening it says that it is a directory
}

TEST_F(ModelFolder, SaysWhereItLooked) {
  const Result<std::string> nothing = resolve_model("x");
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(nothing.error().message, AllOf(HasSubstr("x: no such file"), HasSubstr("holds no models")));
  put("b.gguf", 3);
  EXPECT_THAT(resolve_model("x").error().message, AllOf(HasSubstr(home_.string()), HasSubstr("holds b")));
  EXPECT_FALSE(resolve_model("").ok());
}

}  // namespace
}  // namespace quire::cli

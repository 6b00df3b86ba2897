// History: browsing, and what is kept between runs.
#include "cli/chat/history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace quire::cli {
namespace {

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/quire-history-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/history";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_, path_;
};

TEST_F(HistoryTest, Browsing) {
  History history("");
  EXPECT_EQ(history.older("draft"), nullptr);
  history.add("one");
  history.add("two");
  history.add("two");
  history.add("");
  EXPECT_EQ(history.size(), 2u);
  EXPECT_EQ(*history.older("draft"), "two");
  EXPECT_EQ(*history.older("two"), "one");
  EXPECT_EQ(history.older("one"), nullptr);
  EXPECT_EQ(*history.newer(), "two");
  EXPECT_EQ(*history.newer(), "draft");
  EXPECT_EQ(history.newer(), nullptr);
}

TEST_F(HistoryTest, KeptBetweenRuns) {
  const std::string lines = "two\nlines \\ with \\n", wide = "漢é";
  {
    History history(path_);
    history.add("first");
    history.add(lines);
    history.add(wide);
  }
  struct stat status = {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  History again(path_);
  EXPECT_EQ(again.size(), 3u);
  EXPECT_EQ(*again.older(""), wide);
  EXPECT_EQ(*again.older(""), lines);
  EXPECT_EQ(*again.older(""), "first");
}

TEST_F(HistoryTest, OldEntriesGo) {
  {
    std::ofstream file(path_);
    for (size_t i = 0; i < 3 * History::kMaxEntries; ++i) file << "entry " << i << "\n";
  }
  History history(path_);
  EXPECT_EQ(history.size(), History::kMaxEntries);
  EXPECT_EQ(*history.older(""), "entry " + std::to_string(3 * History::kMaxEntries - 1));
  std::ifstream file(path_);
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "entry " + std::to_string(2 * History::kMaxEntries));
}

TEST_F(HistoryTest, AFileThatCannotBeWrittenIsNoTrouble) {
  History history(folder_ + "/no/such/folder/history");
  history.add("kept for this run");
  EXPECT_EQ(*history.older(""), "kept for this run");
}

TEST_F(HistoryTest, EscapesAreInverse) {
  for (const char* text : {"", "a", "\n", "\\", "\\n", "a\n\\\\b\n"}) {
    EXPECT_EQ(unescape_history(escape_history(text)), text);
    EXPECT_EQ(escape_history(text).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace quire::cli

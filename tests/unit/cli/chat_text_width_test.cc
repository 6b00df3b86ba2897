// Clusters and columns.
#include "cli/chat/text_width.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quire::cli {
namespace {

std::vector<std::string> clusters(std::string_view text) {
  std::vector<std::string> list;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = next_cluster(text, begin);
    list.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return list;
}

TEST(TextWidthTest, Clusters) {
  EXPECT_EQ(clusters("ae\u0301漢"), (std::vector<std::string>{"a", "e\u0301", "漢"}));
  EXPECT_EQ(clusters("👨‍👩‍👧x"), (std::vector<std::string>{"👨‍👩‍👧", "x"}));
  EXPECT_EQ(clusters("a\n\nb"), (std::vector<std::string>{"a", "\n", "\n", "b"}));
}

TEST(TextWidthTest, BackwardsMeetsTheSameBorders) {
  const std::string text = "ab e\u0301 漢字 👨‍👩‍👧 🇩🇪🇫🇷\n\nnext 각 line";
  std::vector<size_t> forward = {0};
  while (forward.back() < text.size()) forward.push_back(next_cluster(text, forward.back()));
  std::vector<size_t> backward = {text.size()};
  while (backward.back() > 0) backward.push_back(previous_cluster(text, backward.back()));
  EXPECT_EQ(std::vector<size_t>(backward.rbegin(), backward.rend()), forward);
}

TEST(TextWidthTest, Columns) {
  EXPECT_EQ(text_width("abc"), 3u);
  EXPECT_EQ(text_width("漢字"), 4u);
  EXPECT_EQ(text_width("e\u0301"), 1u);
  EXPECT_EQ(text_width("👨‍👩‍👧"), 2u);
  EXPECT_EQ(text_width("❤️"), 2u);
  EXPECT_EQ(text_width("a\tb"), 2 + kTabWidth);
  EXPECT_EQ(text_width(""), 0u);
}

}  // namespace
}  // namespace quire::cli

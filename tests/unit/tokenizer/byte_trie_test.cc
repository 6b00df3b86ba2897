#include "tokenizer/byte_trie.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace quire::tokenizer {
namespace {

TEST(ByteTrieTest, LongestPrefix) {
  const ByteTrie trie({{"a", 1}, {"abc", 2}, {"b", 3}, {"abc", 4}});
  EXPECT_EQ(trie.longest_prefix("abx").value, 1);
  EXPECT_EQ(trie.longest_prefix("abcd").value, 2);
  EXPECT_EQ(trie.longest_prefix("abcd").length, 3u);
  EXPECT_EQ(trie.longest_prefix("x").value, -1);
  EXPECT_EQ(trie.longest_prefix("").value, -1);
}

TEST(ByteTrieTest, EqualsASearchThroughTheList) {
  std::mt19937 random(4);
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = 1 + random() % 4; n > 0; --n) text += static_cast<char>(random() % 40 * 6);
    texts.push_back(text);
  }
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < texts.size(); ++i) entries.push_back({texts[i], static_cast<int32_t>(i)});
  const ByteTrie trie(entries);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int n = 0; n < 5; ++n) text += static_cast<char>(random() % 40 * 6);
    size_t best = 0;
    for (const std::string& entry : texts) {
      if (text.starts_with(entry)) best = std::max(best, entry.size());
    }
    EXPECT_EQ(trie.longest_prefix(text).length, best);
  }
}

}  // namespace
}  // namespace quire::tokenizer

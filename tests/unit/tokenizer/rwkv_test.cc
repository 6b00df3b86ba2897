#include "tokenizer/rwkv.h"

#include <gtest/gtest.h>

#include "test_vocabs.h"

namespace quire::test {
namespace {

TEST(RwkvTest, LongestMatchFirst) {
  const auto tokenizer = build(rwkv_vocab());
  EXPECT_EQ(encode(*tokenizer, "abcab\n\n\n\\"), (std::vector<TokenId>{4, 3, 6, 5, 8}));
  EXPECT_EQ(decode(*tokenizer, {4, 3, 6, 8, 7}), "abcab\n\n\\\xE6\xBC");
}

TEST(RwkvTest, UnknownBytesBecomeTokenZero) {
  const auto tokenizer = build(rwkv_vocab());
  EXPECT_EQ(encode(*tokenizer, "a?b"), (std::vector<TokenId>{1, 0, 2}));
}

TEST(RwkvTest, Unescapes) {
  EXPECT_EQ(tokenizer::unescape_rwkv("a\\tb\\x41\\\\\\'"), "a\tbA\\'");
  EXPECT_EQ(tokenizer::unescape_rwkv("\\"), "\\");
  EXPECT_EQ(tokenizer::unescape_rwkv("\\x4"), "x4");
  EXPECT_EQ(tokenizer::unescape_rwkv("\\xg1"), "xg1");
}

}  // namespace
}  // namespace quire::test

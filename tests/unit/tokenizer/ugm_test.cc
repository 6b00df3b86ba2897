#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "test_vocabs.h"

namespace quire::test {
namespace {

using Texts = std::vector<std::string>;

TEST(UgmTest, TakesTheSplitOfTheLargestSum) {
  const auto tokenizer = build(ugm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello world")), (Texts{"▁hello", "▁world"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "he")), (Texts{"▁he"}));
}

TEST(UgmTest, NeighbouringUnknownCharactersBecomeOneToken) {
  const auto tokenizer = build(ugm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello漢字")), (Texts{"▁hello", "<unk>"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "\xFF\xFE")), (Texts{"▁", "<unk>"}));
}

TEST(UgmTest, SpacesAreMergedAndTrimmed) {
  const auto tokenizer = build(ugm_vocab());
  EXPECT_EQ(encode(*tokenizer, "  hello \n  world  "), encode(*tokenizer, "hello \n world"));
  EXPECT_TRUE(encode(*tokenizer, "   ").empty());
}

TEST(UgmTest, SpacesAreKeptWhereTheFileSaysSo) {
  VocabData data = ugm_vocab();
  data.remove_extra_whitespaces = false;
  data.add_space_prefix = false;
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "a  b ")), (Texts{"a", "▁", "▁", "b", "▁"}));
}

TEST(UgmTest, AddsTheEndTokenOnce) {
  const auto tokenizer = build(ugm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello", SpecialTokens::kParse, AddSpecial::kYes)),
            (Texts{"▁hello", "</s>"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello</s>", SpecialTokens::kParse, AddSpecial::kYes)),
            (Texts{"▁hello", "</s>"}));
}

double best_sum(const VocabData& data, std::string_view text) {
  if (text.empty()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < data.tokens.size(); ++id) {
    if (data.types[id] != TokenType::kNormal || !text.starts_with(data.tokens[id])) continue;
    best = std::max(
        best, static_cast<double>(data.scores[id]) + best_sum(data, text.substr(data.tokens[id].size())));
  }
  return best;
}

TEST(UgmTest, SumEqualsBruteForce) {
  std::mt19937 random(5);
  VocabData data{.model = "t5", .add_space_prefix = false};
  const auto add = [&](std::string text, TokenType type, float score) {
    data.tokens.push_back(std::move(text));
    data.types.push_back(type);
    data.scores.push_back(score);
  };
  add("<pad>", TokenType::kControl, 0);
  add("</s>", TokenType::kControl, 0);
  add("<unk>", TokenType::kUnknown, 0);
  for (const char* text : {"a", "b", "c", "ab", "bc", "ca", "abc", "bca", "aab", "cc"}) {
    add(text, TokenType::kNormal, -static_cast<float>(1 + random() % 64) / 8);
  }
  const auto tokenizer = build(data);
  for (int round = 0; round < 100; ++round) {
    std::string text;
    for (size_t n = 1 + random() % 12; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    const auto ids = encode(*tokenizer, text);
    double sum = 0;
    std::string joined;
    for (const TokenId id : ids) {
      sum += static_cast<double>(data.scores[static_cast<size_t>(id)]);
      joined += tokenizer->token_text(id);
    }
    EXPECT_EQ(joined, text);
    EXPECT_EQ(sum, best_sum(data, text)) << text;
  }
}

}  // namespace
}  // namespace quire::test

#include <gtest/gtest.h>

#include <random>

#include "test_vocabs.h"

namespace quire::test {
namespace {

using Texts = std::vector<std::string>;

TEST(SpmTest, MergesByScore) {
  const auto tokenizer = build(spm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello world")), (Texts{"▁hello", "▁world"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "  the")), (Texts{"▁▁", "▁the"}));
}

TEST(SpmTest, CharactersWithoutTokenAreSpelledInBytes) {
  const auto tokenizer = build(spm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "a\n漢")),
            (Texts{"▁a", "<0x0A>", "<0xE6>", "<0xBC>", "<0xA2>"}));
}

TEST(SpmTest, ASpaceIsPutBeforeEveryRunOfText) {
  const auto tokenizer = build(spm_vocab());
  const auto parse = [&](std::string_view text) {
    return texts_of(*tokenizer, encode(*tokenizer, text, SpecialTokens::kParse));
  };
  EXPECT_EQ(parse("the</s>the"), (Texts{"▁the", "</s>", "▁the"}));
  EXPECT_EQ(parse("the</s> the"), (Texts{"▁the", "</s>", "▁", "▁the"}));
  EXPECT_EQ(parse("</s>"), (Texts{"</s>"}));
  EXPECT_EQ(parse("</s></s>"), (Texts{"</s>", "</s>"}));
}

TEST(SpmTest, NoSpaceInFrontWhereTheFileSaysSo) {
  VocabData data = spm_vocab();
  data.add_space_prefix = false;
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello the")), (Texts{"hello", "▁the"}));
}

// Text that spells a control token stays text although its parts could be merged up to it.
TEST(SpmTest, OrdinaryTextNeverBecomesAControlToken) {
  const auto tokenizer = build(spm_vocab());
  for (const char* text : {"<s>", "</s>", "<unk>", "<0x41>", "a<s>b"}) {
    for (const TokenId id : encode(*tokenizer, text)) EXPECT_FALSE(tokenizer->is_control(id)) << text;
    EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, text)), text);
  }
}

// The definition: merge the adjacent pair whose joined text has the best score, leftmost first.
std::vector<std::string> merge_naively(const VocabData& data, std::string_view text) {
  std::vector<std::string> symbols;
  for (const char c : text) symbols.emplace_back(1, c);
  while (true) {
    size_t best = symbols.size();
    float best_score = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto it = std::find(data.tokens.begin(), data.tokens.end(), symbols[i] + symbols[i + 1]);
      if (it == data.tokens.end()) continue;
      const float score = data.scores[static_cast<size_t>(it - data.tokens.begin())];
      if (best == symbols.size() || score > best_score) {
        best = i;
        best_score = score;
      }
    }
    if (best == symbols.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

TEST(SpmTest, EqualsTheDefinitionOnRandomVocabularies) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    VocabData data{
        .model = "llama", .tokens = {"a", "b", "c"}, .scores = {0, 0, 0}, .add_space_prefix = false};
    while (data.tokens.size() < 30) {
      std::string text;
      for (size_t n = 2 + random() % 4; n > 0; --n) text += static_cast<char>('a' + random() % 3);
      if (std::find(data.tokens.begin(), data.tokens.end(), text) != data.tokens.end()) continue;
      data.tokens.push_back(text);
      data.scores.push_back(static_cast<float>(random() % 5));  // few values: many ties
    }
    const VocabData copy = data;
    const auto tokenizer = build(std::move(data));
    for (const size_t length : {1u, 2u, 9u, 24u, 25u, 26u, 90u}) {
      std::string text;
      for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 3);
      EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, text)), merge_naively(copy, text)) << text;
    }
  }
}

TEST(SpmTest, AnyBytesComeBack) {
  VocabData data = spm_vocab();
  // After a token that is found everywhere a space would be put in again.
  data.types.back() = TokenType::kNormal;
  const auto tokenizer = build(std::move(data));
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string text = random_text(seed, 40, Garbage::kInvalidBytes);
    EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, text)), text);
  }
}

}  // namespace
}  // namespace quire::test

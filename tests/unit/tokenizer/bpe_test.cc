#include <gtest/gtest.h>

#include <map>
#include <random>

#include "test_vocabs.h"
#include "tokenizer/pretokenizer.h"

namespace quire::test {
namespace {

using Texts = std::vector<std::string>;

TEST(BpeTest, MergesByRank) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello world the 123")),
            (Texts{"hello", "Ġworld", "Ġthe", "Ġ", "123"}));
}

TEST(BpeTest, EqualRanksMergeLeftmostFirst) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "aaaaa")), (Texts{"aaaa", "a"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "aaa")), (Texts{"aa", "a"}));
}

// The definition, word by word: look at all pairs, merge the best one, start again.
std::vector<std::string> merge_naively(const VocabData& data, std::string_view piece) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (size_t i = 0; i < data.merges.size(); ++i) {
    const size_t space = data.merges[i].find(' ', 1);
    ranks.try_emplace({data.merges[i].substr(0, space), data.merges[i].substr(space + 1)}, i);
  }
  std::vector<std::string> symbols;
  for (const char& c : piece) symbols.push_back(in_byte_alphabet({&c, 1}));
  while (true) {
    size_t best = symbols.size(), best_rank = SIZE_MAX;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto it = ranks.find({symbols[i], symbols[i + 1]});
      if (it != ranks.end() && it->second < best_rank) {
        best_rank = it->second;
        best = i;
      }
    }
    if (best == symbols.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

// Random merges over three letters, so that ties and overlaps are everywhere; lengths on both sides of the
// border between the two ways of merging.
TEST(BpeTest, EqualsTheDefinitionOnRandomMerges) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    VocabData data{.model = "gpt2", .pre = "gpt-2", .tokens = {"a", "b", "c"}};
    while (data.tokens.size() < 40) {
      const std::string left = data.tokens[random() % data.tokens.size()];
      const std::string right = data.tokens[random() % data.tokens.size()];
      if (left.size() + right.size() > 12) continue;
      data.merges.push_back(left + " " + right);
      if (std::find(data.tokens.begin(), data.tokens.end(), left + right) == data.tokens.end()) {
        data.tokens.push_back(left + right);
      }
    }
    const VocabData copy = data;
    const auto tokenizer = build(std::move(data));
    for (const size_t length : {1u, 2u, 7u, 23u, 24u, 25u, 26u, 60u, 200u}) {
      std::string text;
      for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 3);
      EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, text)), merge_naively(copy, text)) << text;
    }
  }
}

TEST(BpeTest, AnyBytesComeBack) {
  std::mt19937 random(3);
  for (const char* pre :
       {"gpt-2", "llama-bpe", "qwen2", "gpt-4o", "deepseek-v3", "kimi-k2", "chameleon", "falcon"}) {
    const auto tokenizer = build(bpe_vocab(pre));
    for (uint32_t seed = 0; seed < 100; ++seed) {
      std::string text = random_text(seed, 50, Garbage::kInvalidBytes);
      if (seed % 4 == 0) {
        for (char& c : text) c = static_cast<char>(random() % 256);
      }
      EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, text)), text) << pre;
    }
  }
}

// With ignore-merges vocabularies a piece that is a token is taken whole even when no merges lead to it.
TEST(BpeTest, WholePiecesAreLookedUpWhereThePreTokenizerSaysSo) {
  VocabData data = bpe_vocab("llama-bpe");
  data.tokens.push_back("xyzzy");
  data.types.push_back(TokenType::kNormal);
  VocabData merged = data;
  merged.pre = "gpt-2";
  EXPECT_EQ(encode(*build(std::move(data)), "xyzzy").size(), 1u);
  EXPECT_EQ(encode(*build(std::move(merged)), "xyzzy").size(), 5u);
}

// A merge result that is no token is spelled in bytes.
TEST(BpeTest, MergedTextWithoutATokenIsSpelledInBytes) {
  VocabData data = bpe_vocab("gpt-2");
  data.merges.push_back("q z");
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "qz")), (Texts{"q", "z"}));
}

TEST(BpeTest, PlainUtf8VocabularyEscapesSpacesAndFallsBackToBytes) {
  const auto tokenizer = build(gemma4_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello hello the")), (Texts{"hello", "▁hello", "▁the"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "é")), (Texts{"<0xC3>", "<0xA9>"}));
  EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, "a  hello é\n\nthe")), "a  hello é\n\nthe");
  EXPECT_EQ(encode(*tokenizer, "", SpecialTokens::kPlain, AddSpecial::kYes), (std::vector<TokenId>{2}));
}

TEST(BpeTest, WhitespaceVocabularyDropsBlanks) {
  VocabData data{.model = "whitespace", .tokens = {"a", "c", "ac", "é"}, .merges = {"a c"}};
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(encode(*tokenizer, " ac \n a é"), (std::vector<TokenId>{2, 0, 3}));
}

TEST(BpeTest, KimiWithoutMergesLooksUpWholePieces) {
  VocabData data = bpe_vocab("kimi-k2");
  data.merges.clear();
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello xy")), (Texts{"hello", "Ġ", "x", "y"}));
}

}  // namespace
}  // namespace quire::test

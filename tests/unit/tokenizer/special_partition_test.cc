#include "tokenizer/special_partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "test_vocabs.h"

namespace quire::test {
namespace {

using tokenizer::Fragment;
using tokenizer::PartitionScratch;
using tokenizer::SpecialPartition;
using tokenizer::Vocab;

Vocab vocab_of(const std::vector<std::string>& specials, std::string model_name = {}) {
  VocabData data{.model = "rwkv", .model_name = std::move(model_name)};
  data.tokens = {"filler"};
  data.types = {TokenType::kNormal};
  for (const std::string& text : specials) {
    data.tokens.push_back(text);
    data.types.push_back(TokenType::kUserDefined);
  }
  NullLogSink log;
  return Vocab::build(std::move(data), log).value();
}

// "text|[token]|text" as the partition sees it.
std::string shown(const Vocab& vocab, std::string_view text) {
  PartitionScratch scratch;
  const tokenizer::ByteRange everywhere{0, text.size()};
  SpecialPartition(vocab).split(text, {&everywhere, 1}, scratch);
  std::string out;
  for (const Fragment& fragment : scratch.fragments) {
    if (!out.empty()) out += '|';
    out += fragment.token == kNoToken
               ? std::string(text.substr(fragment.begin, fragment.end - fragment.begin))
               : "[" + vocab.texts[static_cast<size_t>(fragment.token)] + "]";
  }
  return out;
}

TEST(SpecialPartitionTest, LongerTokensWinWhereverTheyStart) {
  const Vocab vocab = vocab_of({"ab", "bcd"});
  EXPECT_EQ(shown(vocab, "xabcdy"), "xa|[bcd]|y");
  EXPECT_EQ(shown(vocab, "abab"), "[ab]|[ab]");
}

TEST(SpecialPartitionTest, AShorterTokenAtTheSamePlaceGetsAnotherChance) {
  const Vocab vocab = vocab_of({"ab", "abc", "cdef"});
  EXPECT_EQ(shown(vocab, "abcdef"), "[ab]|[cdef]");
}

// The rule as it is usually written: for every token, longest first, cut all raw text at its occurrences.
std::string shown_naively(const Vocab& vocab, const std::string& text) {
  std::vector<size_t> order;
  for (size_t i = 1; i < vocab.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return vocab.texts[a].size() > vocab.texts[b].size(); });
  std::vector<std::pair<std::string, bool>> parts = {{text, false}};
  for (const size_t id : order) {
    std::vector<std::pair<std::string, bool>> next;
    for (const auto& [part, token] : parts) {
      size_t at = 0;
      if (!token) {
        for (size_t hit; (hit = part.find(vocab.texts[id], at)) != std::string::npos;
             at = hit + vocab.texts[id].size()) {
          if (hit > at) next.emplace_back(part.substr(at, hit - at), false);
          next.emplace_back("[" + vocab.texts[id] + "]", true);
        }
      }
      if (token || at < part.size()) next.emplace_back(part.substr(at), token);
    }
    parts = std::move(next);
  }
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : "|") + part.first;
  return out;
}

TEST(SpecialPartitionTest, EqualsTheRuleOnRandomText) {
  // No two of the same length overlap, so that the order among them does not matter.
  const Vocab vocab = vocab_of({"abca", "cab", "bb", "c"});
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t n = 1 + random() % 20; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    EXPECT_EQ(shown(vocab, text), shown_naively(vocab, text)) << text;
  }
}

TEST(SpecialPartitionTest, TokensThatEatSpaceOnTheRight) {
  const Vocab vocab = vocab_of({"<|end|>", "<s>", "</s>"}, "Phi-3 mini");
  EXPECT_EQ(shown(vocab, "a <|end|> \n b"), "a |[<|end|>]|b");
  EXPECT_EQ(shown(vocab, "<s> b</s>  "), "[<s>]| b|[</s>]");
}

}  // namespace
}  // namespace quire::test

// A megabyte of one thing: every pre-tokenizer and every kind of vocabulary must get through in linear time
// and with bounded stack. The tests only have to finish; quadratic work would take hours.
#include <gtest/gtest.h>

#include "test_vocabs.h"
#include "tokenizer/pretokenizer.h"

namespace quire::test {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

std::string repeated(std::string_view unit, size_t bytes) {
  std::string text;
  text.reserve(bytes + unit.size());
  while (text.size() < bytes) text += unit;
  return text;
}

std::vector<std::string> long_texts(size_t bytes) {
  return {repeated(" ", bytes),         repeated(" ", bytes) + "x",
          repeated("\n ", bytes) + "x", repeated("a", bytes),
          repeated("A", bytes),         repeated("1", bytes),
          repeated("1", bytes) + "x",   repeated("!", bytes),
          repeated("'", bytes),         repeated("\u0301", bytes),
          repeated("漢", bytes),        repeated("ʰA", bytes),
          repeated(" a", bytes),        repeated("a b ", bytes),
          repeated("\xFF", bytes),      "\n" + repeated(" ", bytes) + "x"};
}

TEST(LongTextTest, EveryPreTokenizer) {
  // Less than a megabyte each: there are dozens of rows.
  const auto texts = long_texts(kMegabyte / 16);
  tokenizer::PreTokenizerScratch scratch;
  for (const auto& row : tokenizer::pre_tokenizer_table()) {
    const tokenizer::PreTokenizer pre(row);
    for (const std::string& text : texts) {
      pre.split(text, scratch);
      ASSERT_EQ(scratch.ends.back(), text.size()) << row.names.front();
    }
  }
}

TEST(LongTextTest, EveryKindOfVocabulary) {
  for (const VocabData& data : {bpe_vocab("gpt-2"), bpe_vocab("llama-bpe"), spm_vocab(), wpm_vocab(),
                                ugm_vocab(), gemma4_vocab(), rwkv_vocab()}) {
    const auto tokenizer = build(data);
    for (const char* unit : {" ", "a", "1", "!", "漢", "\xFF"}) {
      const std::string text = repeated(unit, kMegabyte) + "x";
      const auto ids = encode(*tokenizer, text, SpecialTokens::kParse);
      if (data.model == "gpt2") {
        ASSERT_EQ(decode(*tokenizer, ids), text);
      }
    }
  }
}

TEST(LongTextTest, SpecialTokensOverAndOver) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  const auto ids = encode(*tokenizer, repeated("<|im_end|>", kMegabyte), SpecialTokens::kParse);
  EXPECT_EQ(ids.size(), repeated("<|im_end|>", kMegabyte).size() / 10);
  EXPECT_EQ(decode(*tokenizer, encode(*tokenizer, repeated("<|im_end", kMegabyte), SpecialTokens::kParse)),
            repeated("<|im_end", kMegabyte));
}

// Run of a user-defined token set like Gemma's white space: every length from 2 to 31.
TEST(LongTextTest, ManyOverlappingSpecialTokens) {
  VocabData data = spm_vocab();
  for (size_t n = 3; n < 32; ++n) {
    data.tokens.push_back(std::string(n, '\n'));
    data.types.push_back(TokenType::kUserDefined);
    data.scores.push_back(0);
  }
  const auto tokenizer = build(std::move(data));
  const auto ids = encode(*tokenizer, std::string(31 * 1000 + 5, '\n'));
  ASSERT_EQ(ids.size(), 1001u);
  EXPECT_EQ(tokenizer->token_text(ids.front()), std::string(31, '\n'));
  EXPECT_EQ(tokenizer->token_text(ids.back()), std::string(5, '\n'));
}

}  // namespace
}  // namespace quire::test

// Roles and end-of-generation sets.
#include <gtest/gtest.h>

#include "test_vocabs.h"

namespace quire::test {
namespace {

VocabData with_tokens(const std::vector<std::pair<std::string, TokenType>>& tokens) {
  VocabData data = bpe_vocab("gpt-2");
  for (const auto& [text, type] : tokens) {
    data.tokens.push_back(text);
    data.types.push_back(type);
  }
  return data;
}

std::vector<std::string> ends(const Tokenizer& tokenizer) {
  return texts_of(tokenizer, {tokenizer.end_of_generation().begin(), tokenizer.end_of_generation().end()});
}

TEST(SpecialTokensTest, EndSetFromKeysAndTexts) {
  const auto tokenizer =
      build(with_tokens({{"<|endoftext|>", TokenType::kControl}, {"<eos>", TokenType::kNormal}}));
  EXPECT_EQ(ends(*tokenizer), (std::vector<std::string>{"</s>", "<|im_end|>", "<|endoftext|>", "<eos>"}));
  EXPECT_EQ(tokenizer->token_text(tokenizer->special(SpecialRole::kEot)), "<|im_end|>");
  // Found by text, so treated as a control token in scaffolding whatever the file says.
  EXPECT_EQ(tokenizer->token_type(tokenizer->find_token("<eos>")), TokenType::kControl);
}

TEST(SpecialTokensTest, HarmonyMessagesDoNotEndAtEnd) {
  const auto tokenizer = build(with_tokens({{"<|end|>", TokenType::kControl},
                                            {"<|return|>", TokenType::kControl},
                                            {"<|call|>", TokenType::kControl},
                                            {"<|channel|>", TokenType::kControl},
                                            {"<|message|>", TokenType::kControl}}));
  EXPECT_FALSE(tokenizer->is_end_of_generation(tokenizer->find_token("<|end|>")));
  EXPECT_TRUE(tokenizer->is_end_of_generation(tokenizer->find_token("<|return|>")));
  EXPECT_TRUE(tokenizer->is_end_of_generation(tokenizer->find_token("<|call|>")));
  // Markers are shown, yet content cannot spell them.
  EXPECT_EQ(tokenizer->piece(tokenizer->find_token("<|channel|>")), "<|channel|>");
  EXPECT_GT(encode(*tokenizer, "<|channel|>").size(), 1u);
}

TEST(SpecialTokensTest, FillInTheMiddleByText) {
  const auto tokenizer = build(with_tokens({{"<fim_prefix>", TokenType::kNormal},
                                            {"<|fim_suffix|>", TokenType::kControl},
                                            {"<fim-middle>", TokenType::kUserDefined},
                                            {"<|fim_pad|>", TokenType::kControl}}));
  EXPECT_EQ(tokenizer->token_text(tokenizer->special(SpecialRole::kFimPre)), "<fim_prefix>");
  EXPECT_EQ(tokenizer->token_text(tokenizer->special(SpecialRole::kFimSuf)), "<|fim_suffix|>");
  EXPECT_EQ(tokenizer->token_text(tokenizer->special(SpecialRole::kFimMid)), "<fim-middle>");
  EXPECT_TRUE(tokenizer->is_end_of_generation(tokenizer->special(SpecialRole::kFimPad)));
  EXPECT_EQ(encode(*tokenizer, "<fim_prefix>", SpecialTokens::kParse).size(), 1u);
}

// Eleven is the end token of GPT-2 style files only where it is one; here it is a comma-like ordinary token.
TEST(SpecialTokensTest, DefaultsDoNotPickOrdinaryTokens) {
  VocabData data = bpe_vocab("gpt-2");
  data.special = {};
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(tokenizer->special(SpecialRole::kEos), kNoToken);
  EXPECT_FALSE(tokenizer->is_end_of_generation(11));
}

TEST(SpecialTokensTest, SuppressedTokensAreSortedAndChecked) {
  VocabData data = bpe_vocab("gpt-2");
  data.suppress_tokens = {7, 3, -1, 7, 100000};
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ((std::vector<TokenId>{tokenizer->suppressed().begin(), tokenizer->suppressed().end()}),
            (std::vector<TokenId>{3, 7}));
}

}  // namespace
}  // namespace quire::test

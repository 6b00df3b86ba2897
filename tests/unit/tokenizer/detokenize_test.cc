#include "tokenizer/detokenize.h"

#include <gtest/gtest.h>

#include "test_vocabs.h"

namespace quire::test {
namespace {

TEST(DetokenizeTest, ControlTokensAreHiddenUnlessAskedFor) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  const auto ids = encode(*tokenizer, "<|im_start|>hello[tool]<|im_end|>", SpecialTokens::kParse);
  EXPECT_EQ(decode(*tokenizer, ids), "hello[tool]");
  EXPECT_EQ(decode(*tokenizer, ids, {.special = RenderSpecial::kShow}), "<|im_start|>hello[tool]<|im_end|>");
}

TEST(DetokenizeTest, EdgeTokensAreRemovedOnRequest) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  const auto ids = encode(*tokenizer, "<s>hello</s>", SpecialTokens::kParse);
  EXPECT_EQ(decode(*tokenizer, ids, {.special = RenderSpecial::kShow, .edges = EdgeTokens::kRemove}),
            "hello");
}

TEST(DetokenizeTest, TheSpaceBeforeTheFirstWordGoes) {
  const auto tokenizer = build(spm_vocab());
  const auto ids = encode(*tokenizer, " hello", SpecialTokens::kParse, AddSpecial::kYes);
  EXPECT_EQ(decode(*tokenizer, ids), " hello");
  EXPECT_EQ(decode(*tokenizer, ids, {.leading_space = LeadingSpace::kKeep}), "  hello");
}

TEST(DetokenizeTest, ByteTokensAndBrokenCharacters) {
  const auto tokenizer = build(spm_vocab());
  EXPECT_EQ(decode(*tokenizer, {3 + 0xE6, 3 + 0xBC, 3 + 0xA2}), "漢");
  EXPECT_EQ(decode(*tokenizer, {3 + 0xE6}), "\xE6");
}

TEST(DetokenizeTest, IdsOutsideTheVocabularyAreAnError) {
  const auto tokenizer = build(spm_vocab());
  for (const TokenId id : {-1, 1000000}) {
    const auto text = tokenizer->decode(std::vector<TokenId>{1, id});
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(DetokenizeTest, SpacesAreTidied) {
  EXPECT_EQ(tokenizer::clean_up_spaces("it 's , I 'm sure . they 're ' quoted ' we 've ? no !"),
            "it's, I'm sure. they're'quoted'we've? no!");
  const auto tokenizer = build(wpm_vocab());
  const auto ids = encode(*tokenizer, "hello, world!");
  EXPECT_EQ(decode(*tokenizer, ids), "hello , world !");
  EXPECT_EQ(decode(*tokenizer, ids, {.cleanup = SpaceCleanup::kAsModel}), "hello, world!");
}

}  // namespace
}  // namespace quire::test

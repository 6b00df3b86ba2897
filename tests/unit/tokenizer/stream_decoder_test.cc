#include "tokenizer/stream_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "test_vocabs.h"

namespace quire::test {
namespace {

constexpr std::string_view kHardText =
    "hello \U0001F9ED 한é \U0001F468\u200D\U0001F469\u200D\U0001F467 world";

TEST(StreamDecoderTest, WholeCharactersOnlyAndNothingLost) {
  for (VocabData data : {bpe_vocab("gpt-2"), spm_vocab(), gemma4_vocab()}) {
    const auto tokenizer = build(std::move(data));
    StreamDecoder stream(*tokenizer, {.leading_space = LeadingSpace::kStrip});
    std::string text;
    size_t texts = 0;
    for (const TokenId id : encode(*tokenizer, kHardText)) {
      const std::string delta = stream.push(id);
      EXPECT_EQ(delta.find("\uFFFD"), std::string::npos);
      EXPECT_EQ(replace_invalid_utf8(delta), delta);
      if (!delta.empty()) ++texts;
      text += delta;
    }
    text += stream.finish();
    EXPECT_EQ(text, kHardText);
    EXPECT_GT(texts, 5u);
  }
}

TEST(StreamDecoderTest, PlainTextArrivesTokenByToken) {
  const auto tokenizer = build(bpe_vocab("gpt-2"));
  StreamDecoder stream(*tokenizer);
  for (const TokenId id : encode(*tokenizer, "hello world the end")) EXPECT_FALSE(stream.push(id).empty());
}

TEST(StreamDecoderTest, BrokenBytesBecomeReplacementMarks) {
  const auto tokenizer = build(spm_vocab());
  StreamDecoder stream(*tokenizer);
  EXPECT_EQ(stream.push(3 + 0xE6), "");
  EXPECT_EQ(stream.held(), "\xE6");
  EXPECT_EQ(stream.push(3 + 'a'), "\uFFFDa");
  EXPECT_EQ(stream.push(3 + 0xF0), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

TEST(StreamDecoderTest, DeltasEqualTheWholeTextForAnyIds) {
  std::mt19937 random(9);
  for (VocabData data : {bpe_vocab("gpt-2"), spm_vocab()}) {
    const auto tokenizer = build(std::move(data));
    for (int round = 0; round < 200; ++round) {
      std::vector<TokenId> ids;
      for (int i = 0; i < 30; ++i) ids.push_back(static_cast<TokenId>(random() % tokenizer->n_vocab()));
      StreamDecoder stream(*tokenizer);
      std::string text;
      for (const TokenId id : ids) {
        text += stream.push(id);
        EXPECT_LE(stream.held().size(), 3u);
      }
      text += stream.finish();
      EXPECT_EQ(text, replace_invalid_utf8(decode(*tokenizer, ids, {.leading_space = LeadingSpace::kKeep})));
    }
  }
}

}  // namespace
}  // namespace quire::test

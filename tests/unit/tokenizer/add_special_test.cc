// Begin and end tokens: exactly one where the model asks for one, exactly what the text has where it does
// not.
#include <gtest/gtest.h>

#include <algorithm>

#include "test_vocabs.h"

namespace quire::test {
namespace {

size_t count(const std::vector<TokenId>& ids, TokenId id) {
  return static_cast<size_t>(std::count(ids.begin(), ids.end(), id));
}

TEST(AddSpecialTest, OneBeginTokenWhoeverWritesIt) {
  for (const bool flag : {false, true}) {
    for (const bool written : {false, true}) {
      for (const bool raw : {false, true}) {
        VocabData data = bpe_vocab("gpt-2");
        data.add_bos = flag;
        const auto tokenizer = build(std::move(data));
        const TokenId bos = tokenizer->special(SpecialRole::kBos);
        // A chat prompt is scaffolding around plain content; raw completion is one parsed text. The content
        // spells the begin token in both.
        const std::string start = written ? "<s>" : "";
        const std::string all = start + "hello <s> there";
        const std::vector<TextSegment> chat = {{start, SpecialTokens::kParse},
                                               {"hello <s> there", SpecialTokens::kPlain}};
        const auto ids = raw ? encode(*tokenizer, all, SpecialTokens::kParse, AddSpecial::kYes)
                             : encode(*tokenizer, chat, AddSpecial::kYes);
        const size_t spelled_inside = raw ? 1 : 0;
        EXPECT_EQ(count(ids, bos), (flag || written ? 1 : 0) + spelled_inside) << flag << written << raw;
        EXPECT_EQ(ids.front() == bos, flag || written) << flag << written << raw;
      }
    }
  }
}

TEST(AddSpecialTest, UserTextThatStartsWithTheBeginTokenStillGetsARealOne) {
  VocabData data = bpe_vocab("gpt-2");
  data.add_bos = true;
  const auto tokenizer = build(std::move(data));
  const auto ids = encode(*tokenizer, "<s>", SpecialTokens::kPlain, AddSpecial::kYes);
  EXPECT_EQ(texts_of(*tokenizer, ids), (std::vector<std::string>{"<s>", "<", "s", ">"}));
}

TEST(AddSpecialTest, OneEndToken) {
  VocabData data = bpe_vocab("gpt-2");
  data.add_eos = true;
  const auto tokenizer = build(std::move(data));
  const TokenId eos = tokenizer->special(SpecialRole::kEos);
  for (const char* text : {"hello", "hello</s>"}) {
    const auto ids = encode(*tokenizer, text, SpecialTokens::kParse, AddSpecial::kYes);
    EXPECT_EQ(count(ids, eos), 1u);
    EXPECT_EQ(ids.back(), eos);
  }
  EXPECT_EQ(count(encode(*tokenizer, "hello", SpecialTokens::kParse, AddSpecial::kNo), eos), 0u);
}

TEST(AddSpecialTest, SeparatorWhereThePreTokenizerAddsOne) {
  VocabData data = bpe_vocab("roberta-bpe");
  data.add_bos = true;
  data.special[static_cast<size_t>(SpecialRole::kSep)] = data.special[static_cast<size_t>(SpecialRole::kEos)];
  data.add_eos = true;
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "a", SpecialTokens::kParse, AddSpecial::kYes)),
            (std::vector<std::string>{"<s>", "a", "</s>"}));
}

TEST(AddSpecialTest, DefaultsByKindAndPreTokenizer) {
  EXPECT_TRUE(build(bpe_vocab("llama-bpe"))->adds_bos());
  EXPECT_FALSE(build(bpe_vocab("qwen2"))->adds_bos());
  EXPECT_TRUE(build(spm_vocab())->adds_bos());
  EXPECT_TRUE(build(ugm_vocab())->adds_eos());
  VocabData forced = gemma4_vocab();
  forced.add_bos = false;
  EXPECT_TRUE(build(std::move(forced))->adds_bos());
}

TEST(AddSpecialTest, AFlagWithoutATokenIsDropped) {
  VocabData data = bpe_vocab("gpt-2");
  data.special = {};
  data.add_bos = true;
  const auto tokenizer = build(std::move(data));
  EXPECT_FALSE(tokenizer->adds_bos());
  EXPECT_EQ(encode(*tokenizer, "a", SpecialTokens::kParse, AddSpecial::kYes).size(), 1u);
}

}  // namespace
}  // namespace quire::test

#include <gtest/gtest.h>

#include "test_vocabs.h"

namespace quire::test {
namespace {

using Texts = std::vector<std::string>;

Texts words(const Tokenizer& tokenizer, std::string_view text) {
  return texts_of(tokenizer, encode(tokenizer, text));
}

TEST(WpmTest, LongestTokensFromTheLeft) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(words(*tokenizer, "unaffable hello"), (Texts{"▁un", "aff", "able", "▁hello"}));
}

TEST(WpmTest, AWordThatCannotBeSpelledIsUnknownAsAWhole) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(words(*tokenizer, "hello unaff\u0416 hello"), (Texts{"▁hello", "[UNK]", "▁hello"}));
}

TEST(WpmTest, PunctuationAndIdeographsStandAlone) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(words(*tokenizer, "hello,world!漢hello"),
            (Texts{"▁hello", "▁,", "▁world", "▁!", "▁漢", "▁hello"}));
}

TEST(WpmTest, CaseAndAccentsGo) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(words(*tokenizer, "HÉLLO he\u0301llo É"), (Texts{"▁hello", "▁hello", "▁e"}));
}

TEST(WpmTest, CaseAndAccentsStayWhereTheFileSaysSo) {
  VocabData data = wpm_vocab();
  data.lowercase = false;
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(words(*tokenizer, "Hello hello é"), (Texts{"[UNK]", "▁hello", "[UNK]"}));
}

TEST(WpmTest, ControlCharactersVanishAndSpacesOfAllKindsSplit) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(words(*tokenizer, std::string_view("he\0llo\u200B wo\u00ADrld\u3000hello\u00A0hello\t\r\n", 38))
                .front(),
            "▁hello");
  EXPECT_EQ(words(*tokenizer, "hello\u3000hello\u00A0hello"), (Texts{"▁hello", "▁hello", "▁hello"}));
  EXPECT_TRUE(words(*tokenizer, " \t\n\x01").empty());
}

TEST(WpmTest, ClsAndSepAreAddedOnce) {
  const auto tokenizer = build(wpm_vocab());
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "hello", SpecialTokens::kParse, AddSpecial::kYes)),
            (Texts{"[CLS]", "▁hello", "[SEP]"}));
  EXPECT_EQ(
      texts_of(*tokenizer, encode(*tokenizer, "[CLS]hello[SEP]", SpecialTokens::kParse, AddSpecial::kYes)),
      (Texts{"[CLS]", "▁hello", "[SEP]"}));
  EXPECT_EQ(texts_of(*tokenizer, encode(*tokenizer, "[CLS]")), (Texts{"▁[", "▁cls", "▁]"}));
}

}  // namespace
}  // namespace quire::test

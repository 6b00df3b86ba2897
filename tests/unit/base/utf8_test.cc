#include "base/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quire {
namespace {

bool is_scalar_value(uint32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

TEST(Utf8, EveryScalarValueSurvivesARoundTrip) {
  for (uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (!is_scalar_value(c)) continue;
    std::string text;
    append_utf8(text, c);
    text += "tail";
    const Utf8Char decoded = decode_utf8(text);
    ASSERT_TRUE(decoded.valid) << c;
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.length, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4) << c;
  }
}

TEST(Utf8, AppendReplacesWhatIsNoScalarValue) {
  for (const char32_t c : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu}) {
    std::string text;
    append_utf8(text, c);
    EXPECT_EQ(text, "\xEF\xBF\xBD");
  }
}

TEST(Utf8, RejectsWhatTheStandardForbids) {
  const std::vector<std::string> invalid = {
      "\x80",              // continuation without a first byte
      "\xBF",              //
      "\xC0\x80",          // overlong, two bytes
      "\xC1\xBF",          //
      "\xE0\x9F\xBF",      // overlong, three bytes
      "\xED\xA0\x80",      // surrogate
      "\xF0\x8F\xBF\xBF",  // overlong, four bytes
      "\xF4\x90\x80\x80",  // above U+10FFFF
      "\xF5\x80\x80\x80",  // no such first byte
      "\xFF",              //
      "\xC3",              // cut short
      "\xE2\x82",          //
      "\xF0\x9F\x98",      //
      "\xC3(",             // continuation expected
      "\xE2\x82(",         //
  };
  for (const std::string& text : invalid) {
    const Utf8Char c = decode_utf8(text);
    EXPECT_FALSE(c.valid) << testing::PrintToString(text);
    EXPECT_EQ(c.length, 1);
    EXPECT_EQ(c.code_point, 0xFFFDu);
  }
}

TEST(Utf8, EndOfTextHasLengthZero) {
  const Utf8Char c = decode_utf8("");
  EXPECT_EQ(c.length, 0);
  EXPECT_FALSE(c.valid);
}

TEST(Utf8, CompletePrefixHoldsBackOnlyAnOpenCharacter) {
  const std::string text =
      "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";  // a é € and an emoji: ends at 1, 3, 6, 10
  const std::vector<size_t> expected = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (size_t n = 0; n <= text.size(); ++n) {
    EXPECT_EQ(complete_utf8_prefix(std::string_view(text).substr(0, n)), expected[n]) << n;
  }
}

TEST(Utf8, CompletePrefixSendsWhatCanNeverBecomeValid) {
  for (const std::string text :
       {"\x80", "\xFF", "a\x80\x80\x80\x80", "\xE0\x9F", "\xED\xA0", "\xF4\x90", "\xC3("}) {
    EXPECT_EQ(complete_utf8_prefix(text), text.size()) << testing::PrintToString(text);
  }
}

// Whatever the bytes: pieces cut at complete prefixes hold the same characters as the whole.
TEST(Utf8, StreamingInPiecesEqualsTheWhole) {
  uint32_t state = 1;
  const std::string alphabet = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x80\xED\xFF";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    std::string streamed;
    std::string pending;
    for (int i = 0; i < 24; ++i) {
      state = state * 1664525u + 1013904223u;
      const char byte = alphabet[(state >> 16) % alphabet.size()];
      text.push_back(byte);
      pending.push_back(byte);
      const size_t ready = complete_utf8_prefix(pending);
      ASSERT_LE(pending.size() - ready, 3u);
      streamed += replace_invalid_utf8(std::string_view(pending).substr(0, ready));
      pending.erase(0, ready);
    }
    streamed += replace_invalid_utf8(pending);
    ASSERT_EQ(streamed, replace_invalid_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(Utf8, ReplacesEachInvalidByte) {
  EXPECT_EQ(replace_invalid_utf8("ok \xC3\xA9"), "ok \xC3\xA9");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(replace_invalid_utf8(""), "");
}

}  // namespace
}  // namespace quire

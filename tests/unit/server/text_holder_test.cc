#include "server/answer/text_holder.h"

#include <gtest/gtest.h>

#include <random>

namespace quire::server {
namespace {

struct Shown {
  std::string text;
  std::vector<int32_t> tokens;
  bool stopped = false;
  bool operator==(const Shown&) const = default;
};

Shown show(const std::vector<std::string>& pieces, const std::vector<std::string>& stops) {
  TextHolder holder(stops);
  Shown out;
  const auto drain = [&] {
    for (TextHolder::Piece piece = holder.take(); piece.any(); piece = holder.take()) {
      out.text += piece.text;
      for (const TokenDetail& token : piece.tokens) out.tokens.push_back(token.id);
    }
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    holder.push({.id = static_cast<int32_t>(i), .bytes = pieces[i]});
    drain();
  }
  holder.end();
  drain();
  out.stopped = holder.stopped_by().has_value();
  return out;
}

TEST(TextHolder, StopsBeforeTheEarliestMatch) {
  const std::vector<std::string> pieces = {"one ", "two", " th", "ree ", "four"};
  EXPECT_EQ(show(pieces, {"two th"}).text, "one ");
  EXPECT_EQ(show(pieces, {"three x", "four"}).text, "one two three ");
  EXPECT_EQ(show(pieces, {"o", "one"}).text, "");
  EXPECT_EQ(show(pieces, {"nothing"}).text, "one two three four");
  EXPECT_FALSE(show(pieces, {"nothing"}).stopped);
  EXPECT_EQ(show({"caf", "\xC3", "\xA9 t", "rois"}, {"\xC3\xA9 t"}).text, "caf");
}

TEST(TextHolder, TokensComeWithTheTextOfTheirLastByte) {
  EXPECT_EQ(show({"ab", "c", "STO", "P", "d"}, {"STOP"}).tokens, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(show({"ab", "cST", "OP"}, {"STOP"}).tokens, (std::vector<int32_t>{0}));
  EXPECT_EQ(show({"", "\xE2", "\x82\xAC", ""}, {}).tokens, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(TextHolder, HoldsOnlyWhatMayBecomeAStop) {
  TextHolder holder({"\n\n"});
  holder.push({.bytes = "a"});
  EXPECT_EQ(holder.take().text, "a");
  holder.push({.bytes = "b\n"});
  EXPECT_EQ(holder.take().text, "b");
  EXPECT_FALSE(holder.take().any());
  holder.push({.bytes = "c"});
  EXPECT_EQ(holder.take().text, "\nc");
}

TEST(TextHolder, ReplacesBytesThatAreNoText) {
  EXPECT_EQ(show({"a\xFF", "b"}, {}).text,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(show({"a\xE2\x82"}, {}).text, "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextHolder, FindsMarkersAndGoesOn) {
  TextHolder holder({"STOP"});
  holder.watch({"<t>", "<u>"});
  holder.push({.bytes = "a<"});
  EXPECT_EQ(holder.take().text, "a");
  holder.push({.bytes = "u>bSTOPc"});
  const TextHolder::Piece marker = holder.take();
  EXPECT_EQ(marker.marker, 1u);
  EXPECT_EQ(holder.take().text, "b");
  EXPECT_EQ(holder.stopped_by(), "STOP");
  EXPECT_FALSE(holder.take().any());
}

// However a text is cut, the same comes out.
TEST(TextHolder, CutsDoNotShow) {
  std::mt19937 random(1);
  const std::vector<std::string> words = {"a", "ab", "b", "\xC3\xA9", "\xE2\x82\xAC", "\xFF", "ba", " "};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += words[random() % words.size()];
    std::vector<std::string> stops;
    for (int i = 0; i < 2; ++i)
      stops.push_back(words[random() % words.size()] + words[random() % words.size()]);
    std::vector<std::string> cut;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 4;
      cut.push_back(text.substr(at, n));
      at += n;
    }
    const Shown whole = show({text}, stops), pieces = show(cut, stops);
    EXPECT_EQ(whole.text, pieces.text) << text;
    EXPECT_EQ(whole.stopped, pieces.stopped);
  }
}

}  // namespace
}  // namespace quire::server

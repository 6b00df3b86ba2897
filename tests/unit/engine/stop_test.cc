// Stop strings: the text released does not depend on how it arrives, and nothing of a match gets out.
#include "engine/stop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace quire {
namespace {

struct Outcome {
  std::string text;
  bool matched = false;
  bool operator==(const Outcome&) const = default;
};

// Pushes text in pieces that end at the given offsets.
Outcome push_pieces(const std::vector<std::string>& stops, const std::string& text,
                    std::vector<size_t> cuts) {
  StopMatcher matcher(stops);
  std::string out;
  size_t begin = 0;
  cuts.push_back(text.size());
  for (const size_t end : cuts) {
    out += matcher.push(text.substr(begin, end - begin));
    begin = end;
  }
  out += matcher.finish();
  return {out, matcher.matched()};
}

// Everything before the match that begins earliest.
Outcome expected(const std::vector<std::string>& stops, const std::string& text) {
  size_t first = std::string::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return {text.substr(0, first), first != std::string::npos};
}

TEST(StopMatcherTest, KnownCases) {
  const std::string text = "one two three four";
  EXPECT_EQ(push_pieces({"two th"}, text, {3, 5, 9}), (Outcome{"one ", true}));
  EXPECT_EQ(push_pieces({"three x", "four"}, text, {9, 13, 16}), (Outcome{"one two three ", true}));
  EXPECT_EQ(push_pieces({"o", "one"}, text, {1, 2}), (Outcome{"", true}));
  EXPECT_EQ(push_pieces({"é t"}, text, {4}), (Outcome{text, false}));
  EXPECT_EQ(push_pieces({}, text, {4}), (Outcome{text, false}));
  EXPECT_EQ(push_pieces({"abcd", "bc"}, "abcx", {1, 2, 3}), (Outcome{"a", true}));
  EXPECT_EQ(push_pieces({"abcd", "bc"}, "abc", {1, 2, 3}), (Outcome{"a", true}));
  EXPECT_EQ(push_pieces({"abcd", "bc"}, "abcd", {3}), (Outcome{"", true}));
}

TEST(StopMatcherTest, HoldsOnlyWhatMayBecomeAStop) {
  StopMatcher matcher({"\nUser:"});
  EXPECT_EQ(matcher.push("Hello"), "Hello");
  EXPECT_EQ(matcher.push(" you\n"), " you");
  EXPECT_EQ(matcher.held(), "\n");
  EXPECT_EQ(matcher.push("Us"), "");
  EXPECT_EQ(matcher.push("ually"), "\nUsually");
  EXPECT_FALSE(matcher.matched());
  EXPECT_EQ(matcher.push("\nUser"), "");
  EXPECT_EQ(matcher.push(": hi"), "");
  EXPECT_TRUE(matcher.matched());
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcherTest, AnySplitGivesTheSame) {
  std::mt19937 random(7);
  const auto draw = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto word = [&](size_t longest) {
    std::string text(1 + draw(longest), 'a');
    for (char& c : text) c = static_cast<char>('a' + draw(2));
    return text;
  };
  int matches = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops(1 + draw(3));
    for (std::string& stop : stops) stop = word(6);
    const std::string text = word(14);
    std::vector<size_t> cuts(draw(6));
    for (size_t& cut : cuts) cut = draw(text.size() + 1);
    std::sort(cuts.begin(), cuts.end());
    const Outcome outcome = expected(stops, text);
    ASSERT_EQ(push_pieces(stops, text, cuts), outcome) << text << " " << testing::PrintToString(stops);
    matches += outcome.matched ? 1 : 0;
  }
  EXPECT_GT(matches, 300);
  EXPECT_LT(matches, 2900);
}

TEST(StopMatcherTest, EmptyStringsAreRefused) {
  EXPECT_TRUE(check_stop_strings({"a", "b"}).ok());
  const Status status = check_stop_strings({"a", ""});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quire

#include "gguf/printable.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable("blk.0.weight é 漢字 🙂"), "blk.0.weight é 漢字 🙂");
}

TEST(Printable, EscapesWhatMovesTheCursorOrTheText) {
  EXPECT_EQ(printable("a\n\t\r\x1b[31m\x7f"), "a\\n\\t\\r\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u0085\u202e\u2028\u2066"), "\\u0085\\u202e\\u2028\\u2066");
}

TEST(Printable, EscapesInvalidUtf8) { EXPECT_EQ(printable("\xff\xc3(\xe6\xbc"), "\\xff\\xc3(\\xe6\\xbc"); }

TEST(Printable, CutsAtACharacter) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("漢字", 4), "漢...");
}

}  // namespace
}  // namespace quire

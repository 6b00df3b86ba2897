// What editing keys do to a text.
#include "cli/chat/edit_buffer.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

EditBuffer buffer(std::string text) {
  EditBuffer b;
  b.set(std::move(text));
  return b;
}

// The text with | where the cursor is.
std::string shown(const EditBuffer& b) {
  std::string text = b.text();
  return text.insert(b.cursor(), "|");
}

TEST(EditBufferTest, InsertAndErase) {
  EditBuffer b;
  b.insert("漢é");
  b.left();
  b.insert("x");
  EXPECT_EQ(shown(b), "漢x|é");
  b.erase_left();
  b.erase_left();
  EXPECT_EQ(shown(b), "|é");
  b.erase_left();
  b.erase_right();
  b.erase_right();
  EXPECT_EQ(shown(b), "|");
}

TEST(EditBufferTest, ACombiningMarkJoinsWhatIsBeforeIt) {
  EditBuffer b = buffer("e");
  b.insert("\u0301");
  EXPECT_EQ(shown(b), "e\u0301|");
  b.left();
  EXPECT_EQ(shown(b), "|e\u0301");
}

TEST(EditBufferTest, Words) {
  EditBuffer b = buffer("the quick, brown fox");
  b.word_left();
  b.word_left();
  b.word_left();
  EXPECT_EQ(shown(b), "the |quick, brown fox");
  b.word_right();
  EXPECT_EQ(shown(b), "the quick|, brown fox");
  b.kill_word_left();
  EXPECT_EQ(shown(b), "the |, brown fox");
  b.kill_word_right();
  EXPECT_EQ(shown(b), "the | fox");
  b.yank();
  EXPECT_EQ(shown(b), "the , brown| fox");
}

TEST(EditBufferTest, Lines) {
  EditBuffer b = buffer("one\ntwo three\nx");
  EXPECT_TRUE(b.on_last_line());
  b.up();
  EXPECT_EQ(shown(b), "one\nt|wo three\nx");
  b.line_finish();
  b.up();
  EXPECT_EQ(shown(b), "one|\ntwo three\nx");
  EXPECT_TRUE(b.on_first_line());
  b.up();
  EXPECT_EQ(shown(b), "one|\ntwo three\nx");
  b.down();
  EXPECT_EQ(shown(b), "one\ntwo| three\nx");
  b.kill_to_line_start();
  EXPECT_EQ(shown(b), "one\n| three\nx");
  b.kill_to_line_end();
  EXPECT_EQ(shown(b), "one\n|\nx");
  b.kill_to_line_end();
  EXPECT_EQ(shown(b), "one\n|x");
  b.yank();
  EXPECT_EQ(shown(b), "one\n\n|x");
}

TEST(EditBufferTest, UpAndDownKeepTheColumnOnWideText) {
  EditBuffer b = buffer("漢字漢字\nabcdef");
  b.up();
  EXPECT_EQ(shown(b), "漢字漢|字\nabcdef");
  b.down();
  EXPECT_EQ(shown(b), "漢字漢字\nabcdef|");
  b.left();
  b.up();
  EXPECT_EQ(shown(b), "漢字|漢字\nabcdef");  // no cluster ends at column 5
}

}  // namespace
}  // namespace quire::cli

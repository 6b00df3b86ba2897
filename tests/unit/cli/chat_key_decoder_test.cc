// Bytes of a terminal to keys.
#include "cli/chat/key_decoder.h"

#include <gtest/gtest.h>

#include <vector>

namespace quire::cli {
namespace {

std::vector<Key> decode(std::string_view bytes) {
  KeyDecoder decoder;
  std::vector<Key> keys;
  for (const char byte : bytes) {
    if (std::optional<Key> key = decoder.push(byte)) keys.push_back(*key);
  }
  return keys;
}

std::vector<KeyKind> kinds(std::string_view bytes) {
  std::vector<KeyKind> list;
  for (const Key& key : decode(bytes)) list.push_back(key.kind);
  return list;
}

TEST(KeyDecoderTest, Text) {
  EXPECT_EQ(
      decode("aé漢🧭"),
      (std::vector<Key>{
          {KeyKind::kText, "a"}, {KeyKind::kText, "é"}, {KeyKind::kText, "漢"}, {KeyKind::kText, "🧭"}}));
}

TEST(KeyDecoderTest, InvalidBytesAreReplaced) {
  EXPECT_EQ(decode("\xff"
                   "a"),
            (std::vector<Key>{{KeyKind::kText, "\uFFFD"}, {KeyKind::kText, "a"}}));
  EXPECT_EQ(decode("\xe6\xbc"
                   "a"),
            (std::vector<Key>{{KeyKind::kText,
                               "\uFFFD"
                               "a"}}));
  EXPECT_EQ(decode("\xe6\x01"
                   "b"),
            (std::vector<Key>{{KeyKind::kHome}, {KeyKind::kText, "b"}}));
}

TEST(KeyDecoderTest, ControlKeys) {
  EXPECT_EQ(kinds("\x01\x02\x03\x04\x05\x06\x08"),
            (std::vector{KeyKind::kHome, KeyKind::kLeft, KeyKind::kInterrupt, KeyKind::kDeleteOrClose,
                         KeyKind::kEnd, KeyKind::kRight, KeyKind::kBackspace}));
  EXPECT_EQ(kinds("\n\x0b\x0c\r\x15\x17\x19\x1a\x7f"),
            (std::vector{KeyKind::kEnter, KeyKind::kKillToEnd, KeyKind::kClearScreen, KeyKind::kEnter,
                         KeyKind::kKillToStart, KeyKind::kKillWordLeft, KeyKind::kYank, KeyKind::kSuspend,
                         KeyKind::kBackspace}));
  EXPECT_TRUE(kinds("\x1c\x1d").empty());
}

TEST(KeyDecoderTest, Sequences) {
  EXPECT_EQ(kinds("\x1b[A\x1b[B\x1b[C\x1b[D\x1bOH\x1bOF\x1b[H\x1b[F"),
            (std::vector{KeyKind::kUp, KeyKind::kDown, KeyKind::kRight, KeyKind::kLeft, KeyKind::kHome,
                         KeyKind::kEnd, KeyKind::kHome, KeyKind::kEnd}));
  EXPECT_EQ(kinds("\x1b[1~\x1b[4~\x1b[3~\x1b[1;5C\x1b[1;3D\x1b[3;5~"),
            (std::vector{KeyKind::kHome, KeyKind::kEnd, KeyKind::kDelete, KeyKind::kWordRight,
                         KeyKind::kWordLeft, KeyKind::kKillWordRight}));
  EXPECT_EQ(kinds("\x1b"
                  "b\x1b"
                  "f\x1b"
                  "d\x1b\x7f\x1b\r"),
            (std::vector{KeyKind::kWordLeft, KeyKind::kWordRight, KeyKind::kKillWordRight,
                         KeyKind::kKillWordLeft, KeyKind::kNewline}));
}

TEST(KeyDecoderTest, UnknownSequencesAreSwallowedWhole) {
  EXPECT_EQ(decode("\x1b[24~\x1b[?1;2c\x1bOP\x1bzx"), (std::vector<Key>{{KeyKind::kText, "x"}}));
  // One that never ends gives the keyboard back.
  EXPECT_FALSE(decode("\x1b[" + std::string(100, '1') + "x").empty());
}

TEST(KeyDecoderTest, PastedBlocks) {
  EXPECT_EQ(decode("\x1b[200~a\r\nb\rc\nd\te\x1b[A\x03\x1b[201~x"),
            (std::vector<Key>{{KeyKind::kPaste, "a\nb\nc\nd\te[A"}, {KeyKind::kText, "x"}}));
  EXPECT_EQ(decode("\x1b[200~\xff漢\x1b[201~"), (std::vector<Key>{{KeyKind::kPaste, "\uFFFD漢"}}));
}

}  // namespace
}  // namespace quire::cli

// The line editor from bytes to messages.
#include "cli/chat/line_editor.h"

#include <gtest/gtest.h>

#include <vector>

namespace quire::cli {
namespace {

struct Typing {
  History history{""};
  LineEditor editor{history};
  std::vector<std::string> messages;
  std::vector<EditEvent> events;  // other than none and submit

  // Types everything, taking messages as they come.
  Typing& type(std::string_view bytes) {
    while (!bytes.empty()) {
      const EditEvent event = editor.feed(bytes);
      if (event == EditEvent::kSubmit) {
        messages.push_back(editor.take());
      } else if (event != EditEvent::kNone) {
        events.push_back(event);
      }
    }
    return *this;
  }
  std::string text() const { return editor.buffer().text(); }
};

TEST(LineEditorTest, EnterSends) {
  Typing typing;
  typing.type("hello\rworld");
  EXPECT_EQ(typing.messages, std::vector<std::string>{"hello"});
  EXPECT_EQ(typing.text(), "world");
}

TEST(LineEditorTest, EditingInTheMiddle) {
  Typing typing;
  typing.type("wrld\x1b[D\x1b[D\x1b[Do\x01hello \x05!\r");
  EXPECT_EQ(typing.messages, std::vector<std::string>{"hello world!"});
  typing.type(
      "one two three\x17\x17"
      "four\r");
  EXPECT_EQ(typing.messages.back(), "one four");
  typing.type(
      "gone\x15"
      "kept\x01\x0b\x19\x19\r");
  EXPECT_EQ(typing.messages.back(), "keptkept");
  typing.type(
      "漢字x\x7f\x7f"
      "é\r");
  EXPECT_EQ(typing.messages.back(), "漢é");
}

TEST(LineEditorTest, SeveralLines) {
  Typing typing;
  typing.type("one\\\rtwo\x1b\rthree\x1b\nfour\n");
  EXPECT_EQ(typing.messages, std::vector<std::string>{"one\ntwo\nthree\nfour"});
  typing.type("a\x1b[200~1\r\n2\r\n\x1b[201~b");
  EXPECT_EQ(typing.text(), "a1\n2\nb");
  typing.type(
      "\x1b[A\x1b[A\x01"
      "x\r");
  EXPECT_EQ(typing.messages.back(), "xa1\n2\nb");
}

TEST(LineEditorTest, History) {
  Typing typing;
  typing.type("first\rsecond\rdraft\x1b[A\x1b[A");
  EXPECT_EQ(typing.text(), "first");
  typing.type("\x1b[A");
  EXPECT_EQ(typing.events, std::vector<EditEvent>{EditEvent::kRefused});
  typing.type("\x1b[B\x1b[B");
  EXPECT_EQ(typing.text(), "draft");
  typing.type("\x1b[A!\r");
  EXPECT_EQ(typing.messages.back(), "second!");
  typing.type("\x10");
  EXPECT_EQ(typing.text(), "second!");
}

TEST(LineEditorTest, LeavingKeys) {
  Typing typing;
  typing.type("\x03");
  EXPECT_EQ(typing.events, std::vector<EditEvent>{EditEvent::kInterrupt});
  typing.type("half a line\x03");
  EXPECT_EQ(typing.text(), "");
  EXPECT_EQ(typing.events.size(), 1u);
  typing.type("ab\x01\x04");
  EXPECT_EQ(typing.text(), "b");
  typing.type("\x04\x04\x0c\x1a");
  EXPECT_EQ(typing.events, (std::vector<EditEvent>{EditEvent::kInterrupt, EditEvent::kClose,
                                                   EditEvent::kClearScreen, EditEvent::kSuspend}));
}

TEST(LineEditorTest, ATextThatIsTooLongIsRefusedWhole) {
  Typing typing;
  typing.type("ab");
  typing.type("\x1b[200~" + std::string(LineEditor::kMaxText, 'x') + "\x1b[201~");
  EXPECT_EQ(typing.text(), "ab");
  EXPECT_EQ(typing.events, std::vector<EditEvent>{EditEvent::kRefused});
}

}  // namespace
}  // namespace quire::cli

// Layout of the edited text, checked on a small model of a terminal.
#include "cli/chat/screen.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace quire::cli {
namespace {

const ScreenStyle kStyle = {.first = {.text = "> ", .width = 2}, .next = {.text = "| ", .width = 2}};

std::string joined(const ScreenLayout& layout) {
  std::string all;
  for (const std::string& row : layout.rows) all += (all.empty() ? "" : "\n") + row;
  return all;
}

// As much of a terminal as draw() uses; every character is one column wide.
class FakeTerminal {
 public:
  void write(const std::string& bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\r') {
        column_ = 0;
      } else if (bytes[i] == '\n') {
        ++row_;
      } else if (bytes[i] == '\x1b') {
        char* end = nullptr;
        const auto n = std::strtoul(bytes.c_str() + i + 2, &end, 10);
        i = static_cast<size_t>(end - bytes.c_str());
        if (*end == 'A') row_ -= n;
        if (*end == 'C') column_ += n;
        if (*end == 'J') {
          rows_.resize(row_ + 1);
          rows_[row_].resize(column_);
        }
      } else {
        rows_.resize(std::max(rows_.size(), row_ + 1));
        rows_[row_].resize(std::max(rows_[row_].size(), column_ + 1), ' ');
        rows_[row_][column_++] = bytes[i];
      }
    }
  }
  size_t row() const { return row_; }
  size_t column() const { return column_; }
  std::string text() const {
    std::string all;
    for (const std::string& row : rows_) all += (all.empty() ? "" : "\n") + row;
    return all;
  }

 private:
  std::vector<std::string> rows_ = {""};
  size_t row_ = 0, column_ = 0;
};

TEST(ScreenTest, OneLine) {
  const ScreenLayout layout = lay_out("hello", 2, kStyle, {});
  EXPECT_EQ(joined(layout), "> hello");
  EXPECT_EQ(layout.cursor_row, 0u);
  EXPECT_EQ(layout.cursor_column, 4u);
}

TEST(ScreenTest, LinesWrapBeforeTheEdge) {
  const ScreenLayout layout = lay_out("abcdefgh", 8, kStyle, {.columns = 5});
  EXPECT_EQ(joined(layout), "> abc\ndefgh\n");
  EXPECT_EQ(layout.cursor_row, 2u);
  EXPECT_EQ(layout.cursor_column, 0u);
  const ScreenLayout wide = lay_out("漢字", 3, kStyle, {.columns = 5});
  EXPECT_EQ(joined(wide), "> 漢\n字");
  EXPECT_EQ(wide.cursor_row, 1u);
  EXPECT_EQ(wide.cursor_column, 0u);
}

TEST(ScreenTest, SeveralLines) {
  const ScreenLayout layout = lay_out("one\n\ntwo\t.", 4, kStyle, {});
  EXPECT_EQ(joined(layout), "> one\n| \n| two    .");
  EXPECT_EQ(layout.cursor_row, 1u);
  EXPECT_EQ(layout.cursor_column, 2u);
}

TEST(ScreenTest, EscapesOfThePromptTakeNoColumns) {
  const ScreenStyle style = {.first = {.text = "\x1b[1m> \x1b[0m", .width = 2}, .next = kStyle.next};
  EXPECT_EQ(lay_out("a", 1, style, {}).cursor_column, 3u);
}

TEST(ScreenTest, OnlyTheRowsAroundTheCursor) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7";
  const ScreenLayout end = lay_out(text, text.size(), kStyle, {.rows = 3});
  EXPECT_EQ(joined(end), "| 5\n| 6\n| 7");
  EXPECT_EQ(end.cursor_row, 2u);
  const ScreenLayout begin = lay_out(text, 0, kStyle, {.rows = 3});
  EXPECT_EQ(joined(begin), "> 1\n| 2\n| 3");
  EXPECT_EQ(begin.cursor_row, 0u);
  const ScreenLayout middle = lay_out(text, 6, kStyle, {.rows = 3});
  EXPECT_EQ(joined(middle), "| 3\n| 4\n| 5");
  EXPECT_EQ(middle.cursor_row, 1u);
}

TEST(ScreenTest, TinyTerminals) {
  for (size_t columns = 0; columns < 5; ++columns) {
    for (size_t rows = 0; rows < 3; ++rows) {
      const ScreenLayout layout = lay_out("a漢\nb\tc", 3, kStyle, {.columns = columns, .rows = rows});
      EXPECT_LE(layout.rows.size(), std::max<size_t>(rows, 1));
      EXPECT_LT(layout.cursor_row, layout.rows.size());
    }
  }
}

TEST(ScreenTest, EachDrawReplacesTheLast) {
  FakeTerminal terminal;
  size_t row = 0;
  const std::vector<std::pair<std::string, size_t>> steps = {
      {"", 0}, {"a longer text than fits", 23}, {"a longer text than fits", 3}, {"x\ny\nz", 2}, {"x", 1},
      {"", 0}};
  for (const auto& [text, cursor] : steps) {
    const ScreenLayout layout = lay_out(text, cursor, kStyle, {.columns = 10});
    terminal.write(draw(layout, row));
    row = layout.cursor_row;
    EXPECT_EQ(terminal.text(), joined(layout));
    EXPECT_EQ(terminal.row(), layout.cursor_row);
    EXPECT_EQ(terminal.column(), layout.cursor_column);
  }
}

}  // namespace
}  // namespace quire::cli

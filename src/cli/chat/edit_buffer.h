// EditBuffer: a text with a cursor, and what editing keys do to it.
//
// The text is valid UTF-8, may have several lines, and the cursor stands between grapheme clusters. "Line"
// below is the one the cursor is on. A plain value, one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quire::cli {

class EditBuffer {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // byte offset
  bool empty() const { return text_.empty(); }
  bool on_first_line() const { return line_begin() == 0; }
  bool on_last_line() const { return line_end() == text_.size(); }

  // Replaces everything; the cursor goes to the end.
  void set(std::string text);
  void insert(std::string_view text);

  void left();
  void right();
  void word_left();
  void word_right();
  void line_start();
  void line_finish();
  // To the same column of the line above or below, as near as that line is long.
  void up();
  void down();

  void erase_left();
  void erase_right();
  void kill_word_left();
  void kill_word_right();
  void kill_to_line_start();
  void kill_to_line_end();  // at the end of a line: the line break
  void yank() { insert(killed_); }

 private:
  size_t line_begin() const;
  size_t line_end() const;
  size_t word_left_of(size_t position) const;
  size_t word_right_of(size_t position) const;
  // Removes [begin, end), which becomes what yank() inserts.
  void kill(size_t begin, size_t end);
  size_t column() const;                                 // of the cursor, in columns of a terminal
  size_t at_column(size_t begin, size_t columns) const;  // offset in the line that begins at `begin`

  std::string text_;
  size_t cursor_ = 0;
  std::string killed_;
};

}  // namespace quire::cli

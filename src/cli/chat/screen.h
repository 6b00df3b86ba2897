// Layout of an edited text on a terminal, and the bytes that draw it over what was drawn before.
//
// Lines are broken here, never by the terminal, so that the cursor's place is known on every kind of
// terminal. Only the rows around the cursor are drawn when there are more than the terminal has. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::cli {

// A text that begins a line; may hold escape sequences, which take no columns.
struct LinePrompt {
  std::string text;
  size_t width = 0;
};

struct ScreenStyle {
  LinePrompt first;  // of the first line
  LinePrompt next;   // of the others
};

struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;
};

struct ScreenLayout {
  std::vector<std::string> rows;  // at least one
  size_t cursor_row = 0;
  size_t cursor_column = 0;
};

// `cursor` is a byte offset between two grapheme clusters of `text`.
ScreenLayout lay_out(std::string_view text, size_t cursor, const ScreenStyle& style, ScreenSize size);

// Moves from the cursor's row of the layout drawn last (0 when there is none) to its first row, clears all
// below and draws `layout`.
std::string draw(const ScreenLayout& layout, size_t last_cursor_row);

}  // namespace quire::cli

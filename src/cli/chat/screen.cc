#include "cli/chat/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/chat/text_width.h"

namespace quire::cli {
namespace {

class Painter {
 public:
  Painter(const ScreenStyle& style, size_t columns) : style_(style), columns_(std::max<size_t>(columns, 2)) {
    begin_line(style_.first);
  }

  void line_break() { begin_line(style_.next); }

  void put(std::string_view cluster) {
    const size_t width = cluster_width(cluster);
    if (column_ + width > columns_) wrap();
    if (cluster == "\t") {
      layout_.rows.back().append(width, ' ');
    } else {
      layout_.rows.back() += cluster;
    }
    column_ += width;
  }

  // The cursor stands before the cluster that comes next.
  void place_cursor(size_t next_width) {
    if (column_ + std::max<size_t>(next_width, 1) > columns_) wrap();
    layout_.cursor_row = layout_.rows.size() - 1;
    layout_.cursor_column = column_;
  }

  ScreenLayout finish() { return std::move(layout_); }

 private:
  void begin_line(const LinePrompt& prompt) {
    // A prompt that leaves no room for text is left out.
    const bool fits = prompt.width + 2 <= columns_;
    layout_.rows.push_back(fits ? prompt.text : std::string());
    column_ = fits ? prompt.width : 0;
  }

  void wrap() {
    layout_.rows.emplace_back();
    column_ = 0;
  }

  const ScreenStyle& style_;
  size_t columns_;
  size_t column_ = 0;
  ScreenLayout layout_;
};

// The rows around the cursor that a terminal of `rows` rows can show.
ScreenLayout window(ScreenLayout layout, size_t rows) {
  rows = std::max<size_t>(rows, 1);
  if (layout.rows.size() <= rows) return layout;
  const size_t last_begin = layout.rows.size() - rows;
  const size_t begin = std::min(last_begin, layout.cursor_row - std::min(layout.cursor_row, rows / 2));
  const auto first = layout.rows.begin() + static_cast<std::ptrdiff_t>(begin);
  layout.rows = {first, first + static_cast<std::ptrdiff_t>(rows)};
  layout.cursor_row -= begin;
  return layout;
}

}  // namespace

ScreenLayout lay_out(std::string_view text, size_t cursor, const ScreenStyle& style, ScreenSize size) {
  Painter painter(style, size.columns);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = next_cluster(text, begin);
    const std::string_view cluster = text.substr(begin, end - begin);
    if (begin == cursor) painter.place_cursor(cluster_width(cluster));
    if (cluster == "\n") {
      painter.line_break();
    } else {
      painter.put(cluster);
    }
    begin = end;
  }
  if (cursor == text.size()) painter.place_cursor(1);
  return window(painter.finish(), size.rows);
}

std::string draw(const ScreenLayout& layout, size_t last_cursor_row) {
  std::string out = "\r";
  if (last_cursor_row > 0) out += fmt::format("\x1b[{}A", last_cursor_row);
  out += "\x1b[J";
  for (size_t i = 0; i < layout.rows.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += layout.rows[i];
  }
  const size_t below = layout.rows.size() - 1 - layout.cursor_row;
  if (below > 0) out += fmt::format("\x1b[{}A", below);
  out += '\r';
  if (layout.cursor_column > 0) out += fmt::format("\x1b[{}C", layout.cursor_column);
  return out;
}

}  // namespace quire::cli

#include "cli/chat/edit_buffer.h"

#include "cli/chat/text_width.h"

namespace quire::cli {
namespace {

// Words are runs of letters, digits and everything outside ASCII.
bool is_word_byte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
         (value >= 'A' && value <= 'Z') || value == '_';
}

}  // namespace

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditBuffer::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
  // A combining mark typed before another character may have joined it: step to the next border.
  size_t border = line_begin();
  while (border < cursor_) border = next_cluster(text_, border);
  cursor_ = border;
}

size_t EditBuffer::line_begin() const {
  const size_t line_break = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return line_break == std::string::npos ? 0 : line_break + 1;
}

size_t EditBuffer::line_end() const {
  const size_t line_break = text_.find('\n', cursor_);
  return line_break == std::string::npos ? text_.size() : line_break;
}

void EditBuffer::left() { cursor_ = previous_cluster(text_, cursor_); }
void EditBuffer::right() { cursor_ = next_cluster(text_, cursor_); }
void EditBuffer::line_start() { cursor_ = line_begin(); }
void EditBuffer::line_finish() { cursor_ = line_end(); }
void EditBuffer::word_left() { cursor_ = word_left_of(cursor_); }
void EditBuffer::word_right() { cursor_ = word_right_of(cursor_); }

size_t EditBuffer::word_left_of(size_t position) const {
  while (position > 0 && !is_word_byte(text_[position - 1])) --position;
  while (position > 0 && is_word_byte(text_[position - 1])) --position;
  return position;
}

size_t EditBuffer::word_right_of(size_t position) const {
  while (position < text_.size() && !is_word_byte(text_[position])) ++position;
  while (position < text_.size() && is_word_byte(text_[position])) ++position;
  return position;
}

size_t EditBuffer::column() const {
  const size_t begin = line_begin();
  return text_width(std::string_view(text_).substr(begin, cursor_ - begin));
}

size_t EditBuffer::at_column(size_t begin, size_t columns) const {
  size_t position = begin;
  size_t reached = 0;
  while (position < text_.size() && text_[position] != '\n') {
    const size_t end = next_cluster(text_, position);
    reached += cluster_width(std::string_view(text_).substr(position, end - position));
    if (reached > columns) break;
    position = end;
  }
  return position;
}

void EditBuffer::up() {
  if (on_first_line()) return;
  const size_t columns = column();
  cursor_ = line_begin() - 1;  // the end of the line above
  cursor_ = at_column(line_begin(), columns);
}

void EditBuffer::down() {
  if (on_last_line()) return;
  const size_t columns = column();
  cursor_ = at_column(line_end() + 1, columns);
}

void EditBuffer::erase_left() {
  const size_t begin = previous_cluster(text_, cursor_);
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void EditBuffer::erase_right() { text_.erase(cursor_, next_cluster(text_, cursor_) - cursor_); }

void EditBuffer::kill(size_t begin, size_t end) {
  if (begin == end) return;
  killed_ = text_.substr(begin, end - begin);
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

void EditBuffer::kill_word_left() { kill(word_left_of(cursor_), cursor_); }
void EditBuffer::kill_word_right() { kill(cursor_, word_right_of(cursor_)); }
void EditBuffer::kill_to_line_start() { kill(line_begin(), cursor_); }
void EditBuffer::kill_to_line_end() {
  const size_t end = line_end();
  kill(cursor_, end == cursor_ && end < text_.size() ? end + 1 : end);
}

}  // namespace quire::cli

#include "cli/chat/line_editor.h"

namespace quire::cli {

EditEvent LineEditor::feed(std::string_view& bytes) {
  while (!bytes.empty()) {
    const std::optional<Key> key = decoder_.push(bytes.front());
    bytes.remove_prefix(1);
    if (!key) continue;
    const EditEvent event = handle(*key);
    if (event != EditEvent::kNone) return event;
  }
  return EditEvent::kNone;
}

std::string LineEditor::take() {
  std::string message = buffer_.text();
  history_.add(message);
  buffer_.set({});
  return message;
}

EditEvent LineEditor::insert(std::string_view text) {
  // All or nothing: a block cut short would be a different message.
  if (buffer_.text().size() + text.size() > kMaxText) return EditEvent::kRefused;
  buffer_.insert(text);
  return EditEvent::kNone;
}

EditEvent LineEditor::enter() {
  const bool continued = buffer_.cursor() > 0 && buffer_.text()[buffer_.cursor() - 1] == '\\';
  if (!continued) return EditEvent::kSubmit;
  buffer_.erase_left();
  return insert("\n");
}

EditEvent LineEditor::go_up() {
  if (!buffer_.on_first_line()) {
    buffer_.up();
    return EditEvent::kNone;
  }
  const std::string* entry = history_.older(buffer_.text());
  if (entry == nullptr) return EditEvent::kRefused;
  buffer_.set(*entry);
  return EditEvent::kNone;
}

EditEvent LineEditor::go_down() {
  if (!buffer_.on_last_line()) {
    buffer_.down();
    return EditEvent::kNone;
  }
  const std::string* entry = history_.newer();
  if (entry == nullptr) return EditEvent::kRefused;
  buffer_.set(*entry);
  return EditEvent::kNone;
}

EditEvent LineEditor::handle(const Key& key) {
  switch (key.kind) {
    case KeyKind::kText:
    case KeyKind::kPaste:
      return insert(key.text);
    case KeyKind::kNewline:
      return insert("\n");
    case KeyKind::kEnter:
      return enter();
    case KeyKind::kBackspace:
      buffer_.erase_left();
      return EditEvent::kNone;
    case KeyKind::kDelete:
      buffer_.erase_right();
      return EditEvent::kNone;
    case KeyKind::kLeft:
      buffer_.left();
      return EditEvent::kNone;
    case KeyKind::kRight:
      buffer_.right();
      return EditEvent::kNone;
    case KeyKind::kUp:
      return go_up();
    case KeyKind::kDown:
      return go_down();
    case KeyKind::kHome:
      buffer_.line_start();
      return EditEvent::kNone;
    case KeyKind::kEnd:
      buffer_.line_finish();
      return EditEvent::kNone;
    case KeyKind::kWordLeft:
      buffer_.word_left();
      return EditEvent::kNone;
    case KeyKind::kWordRight:
      buffer_.word_right();
      return EditEvent::kNone;
    case KeyKind::kKillWordLeft:
      buffer_.kill_word_left();
      return EditEvent::kNone;
    case KeyKind::kKillWordRight:
      buffer_.kill_word_right();
      return EditEvent::kNone;
    case KeyKind::kKillToStart:
      buffer_.kill_to_line_start();
      return EditEvent::kNone;
    case KeyKind::kKillToEnd:
      buffer_.kill_to_line_end();
      return EditEvent::kNone;
    case KeyKind::kYank:
      buffer_.yank();
      return EditEvent::kNone;
    case KeyKind::kInterrupt:
      if (buffer_.empty()) return EditEvent::kInterrupt;
      buffer_.set({});
      return EditEvent::kNone;
    case KeyKind::kDeleteOrClose:
      if (buffer_.empty()) return EditEvent::kClose;
      buffer_.erase_right();
      return EditEvent::kNone;
    case KeyKind::kSuspend:
      return EditEvent::kSuspend;
    case KeyKind::kClearScreen:
      return EditEvent::kClearScreen;
  }
  return EditEvent::kNone;
}

}  // namespace quire::cli

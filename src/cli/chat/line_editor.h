// LineEditor: what is typed at the prompt, as a state machine from bytes to a message.
//
// Knows no terminal: bytes come in, events and the state to draw (screen.h) come out. Enter sends; a
// backslash before it, or Alt-Enter, breaks the line; pasted blocks keep their line breaks. Refers to a
// History, which must outlive it. One thread.
//
//   LineEditor editor(history);
//   while (!bytes.empty()) {
//     const EditEvent event = editor.feed(bytes);
//     if (event == EditEvent::kSubmit) send(editor.take());
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/chat/edit_buffer.h"
#include "cli/chat/history.h"
#include "cli/chat/key_decoder.h"

namespace quire::cli {

enum class EditEvent : uint8_t {
  kNone,
  kSubmit,       // a message is ready: take()
  kInterrupt,    // Ctrl-C with nothing typed
  kClose,        // Ctrl-D with nothing typed
  kSuspend,      // Ctrl-Z
  kClearScreen,  // Ctrl-L
  kRefused,      // the key had nothing to do, or a text is too long
};

class LineEditor {
 public:
  static constexpr size_t kMaxText = size_t{4} << 20;

  explicit LineEditor(History& history) : history_(history) {}

  // Consumes bytes from the front of `bytes` up to the one that causes an event, or all.
  EditEvent feed(std::string_view& bytes);

  const EditBuffer& buffer() const { return buffer_; }
  // The message, leaving the editor empty. The message is added to the history.
  std::string take();

 private:
  EditEvent handle(const Key& key);
  EditEvent enter();
  EditEvent insert(std::string_view text);
  EditEvent go_up();
  EditEvent go_down();

  History& history_;
  KeyDecoder decoder_;
  EditBuffer buffer_;
};

}  // namespace quire::cli

// The line editor on a terminal: connects keys, screen and terminal modes.
#include "cli/chat/history.h"
#include "cli/chat/line_editor.h"
#include "cli/chat/message_reader.h"
#include "cli/chat/screen.h"
#include "cli/chat/terminal.h"

namespace quire::cli {
namespace {

constexpr std::string_view kBell = "\a";
constexpr std::string_view kClearAll = "\x1b[H\x1b[2J";

ScreenStyle screen_style(const TerminalStyle& style) {
  const auto sign = [&](std::string_view text) {
    return LinePrompt{.text = std::string(style.prompt) + std::string(text) + std::string(style.reset),
                      .width = text.size()};
  };
  return {.first = sign("> "), .next = sign("| ")};
}

class EditorReader final : public MessageReader {
 public:
  EditorReader(const TerminalStyle& style, std::string history_path)
      : style_(screen_style(style)), history_(std::move(history_path)), editor_(history_) {
    terminal_.set_mode(TerminalMode::kAnswer);
  }

  Result<ReadResult> read() override {
    terminal_.set_mode(TerminalMode::kEdit);
    cursor_row_ = 0;
    Result<ReadResult> result = edit();
    terminal_.set_mode(TerminalMode::kAnswer);
    return result;
  }

 private:
  Result<ReadResult> edit() {
    while (true) {
      redraw();
      if (unread_.empty()) {
        QUIRE_ASSIGN_OR_RETURN(unread_, terminal_.read());
      }
      std::string_view bytes = unread_;
      const EditEvent event = editor_.feed(bytes);
      unread_.erase(0, unread_.size() - bytes.size());
      switch (event) {
        case EditEvent::kNone:
          break;
        case EditEvent::kRefused:
          terminal_.write(kBell);
          break;
        case EditEvent::kClearScreen:
          terminal_.write(kClearAll);
          cursor_row_ = 0;
          break;
        case EditEvent::kSuspend:
          terminal_.suspend();
          cursor_row_ = 0;
          break;
        case EditEvent::kInterrupt:
          leave();
          return ReadResult{.event = ReadEvent::kInterrupt};
        case EditEvent::kClose:
          leave();
          return ReadResult{.event = ReadEvent::kClose};
        case EditEvent::kSubmit:
          leave();
          return ReadResult{.event = ReadEvent::kMessage, .message = editor_.take()};
      }
    }
  }

  void redraw() { show(editor_.buffer().cursor()); }

  // The whole text stays on the screen, and what follows begins below it.
  void leave() {
    show(editor_.buffer().text().size());
    terminal_.write("\r\n");
  }

  void show(size_t cursor) {
    const ScreenLayout layout = lay_out(editor_.buffer().text(), cursor, style_, terminal_.size());
    terminal_.write(draw(layout, cursor_row_));
    cursor_row_ = layout.cursor_row;
  }

  ScreenStyle style_;
  History history_;
  LineEditor editor_;
  Terminal terminal_;
  std::string unread_;  // typed ahead
  size_t cursor_row_ = 0;
};

}  // namespace

std::unique_ptr<MessageReader> make_editor_reader(const TerminalStyle& style, std::string history_path) {
  return std::make_unique<EditorReader>(style, std::move(history_path));
}

}  // namespace quire::cli

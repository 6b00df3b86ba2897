// Plain lines, for terminals that cannot be edited on.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/utf8.h"
#include "cli/chat/message_reader.h"
#include "cli/standard_streams.h"

namespace quire::cli {
namespace {

void show_sign(std::string_view sign) {
  if (::isatty(STDERR_FILENO) == 1) write_standard_error(sign);
}

class LineReader final : public MessageReader {
 public:
  explicit LineReader(InterruptGuard& interrupt) : interrupt_(interrupt) {}

  Result<ReadResult> read() override {
    std::string message;
    show_sign("> ");
    while (true) {
      QUIRE_ASSIGN_OR_RETURN(const ReadEvent event, fill());
      if (event == ReadEvent::kInterrupt) return ReadResult{.event = event};
      const size_t end = unread_.find('\n');
      if (end == std::string::npos && unread_.empty() && message.empty())
        return ReadResult{.event = ReadEvent::kClose};
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end == std::string::npos ? end : end + 1);
      if (line.ends_with('\r')) line.pop_back();
      const bool continued = line.ends_with('\\') && end != std::string::npos;
      if (continued) line.back() = '\n';
      message += line;
      if (!continued)
        return ReadResult{.event = ReadEvent::kMessage, .message = replace_invalid_utf8(message)};
      show_sign("| ");
    }
  }

 private:
  // Whether Ctrl-C was typed; what stood on the line is gone then.
  bool take_interrupt() {
    if (!interrupt_.interrupted()) return false;
    interrupt_.clear();
    unread_.clear();
    return true;
  }

  // Reads until a whole line is there (kMessage), or the end of the input (kClose).
  Result<ReadEvent> fill() {
    while (unread_.find('\n') == std::string::npos) {
      if (take_interrupt()) return ReadEvent::kInterrupt;
      char buffer[4096];
      const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return make_error(ErrorCode::kIo, "cannot read standard input: {}", std::strerror(errno));
      if (n == 0) return ReadEvent::kClose;
      unread_.append(buffer, static_cast<size_t>(n));
    }
    return ReadEvent::kMessage;
  }

  InterruptGuard& interrupt_;
  std::string unread_;
};

}  // namespace

std::unique_ptr<MessageReader> make_line_reader(InterruptGuard& interrupt) {
  return std::make_unique<LineReader>(interrupt);
}

}  // namespace quire::cli

// MessageReader: where the messages of a chat come from: the line editor on a terminal, plain lines
// elsewhere.
//
// One thread. read() blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/chat/interrupt.h"
#include "cli/chat/terminal_style.h"

namespace quire::cli {

enum class ReadEvent : uint8_t {
  kMessage,
  kInterrupt,  // Ctrl-C with nothing typed
  kClose,      // Ctrl-D, or the end of the input
};

struct ReadResult {
  ReadEvent event;
  std::string message = {};  // valid UTF-8
};

class MessageReader {
 public:
  virtual ~MessageReader() = default;
  // Errors: kIo.
  virtual Result<ReadResult> read() = 0;
};

// Line editing, on a terminal for which Terminal::usable() is true. `history_path` may be empty: no file.
std::unique_ptr<MessageReader> make_editor_reader(const TerminalStyle& style, std::string history_path);

// Lines of standard input as they are; a backslash at the end continues the message on the next line. SIGINT
// is noticed through `interrupt`, which must outlive the reader.
std::unique_ptr<MessageReader> make_line_reader(InterruptGuard& interrupt);

}  // namespace quire::cli

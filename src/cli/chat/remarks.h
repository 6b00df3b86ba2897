// Remarks: what the chat says beside the answers, on standard error.
//
// A plain value, main thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "cli/chat/terminal_style.h"

namespace quire::cli {

enum class Verbosity : uint8_t { kNormal, kQuiet };

class Remarks {
 public:
  Remarks(const TerminalStyle& style, Verbosity verbosity) : style_(style), verbosity_(verbosity) {}

  // One line beside the answers, dimmed; nothing when quiet.
  void note(std::string_view text) const;
  // What was asked for or went wrong: always shown, as it stands.
  void show(std::string_view text) const;
  const TerminalStyle& style() const { return style_; }

 private:
  TerminalStyle style_;
  Verbosity verbosity_;
};

}  // namespace quire::cli

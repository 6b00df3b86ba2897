// TerminalStyle: the escape sequences that mark parts of a chat, or nothing where colours are not wanted.
//
// A plain value.
#pragma once

#include <string_view>

namespace quire::cli {

struct TerminalStyle {
  std::string_view prompt;  // before the prompt sign
  std::string_view dim;     // before remarks
  std::string_view bold;
  std::string_view reset;  // after any of them
};

// Colours on standard error: none unless it is a terminal, TERM is not "dumb" and NO_COLOR is unset or empty
// (no-color.org).
TerminalStyle terminal_style();

}  // namespace quire::cli

// Terminal: the modes of the terminal on standard input, put back whatever happens.
//
// One at a time, made on the main thread. The original mode returns when it goes, and when SIGTERM, SIGHUP or
// SIGQUIT end the program. Draws go to standard error, so that standard output holds answers only.
//
//   Terminal terminal;
//   terminal.set_mode(TerminalMode::kEdit);
//   Result<std::string> bytes = terminal.read();
#pragma once

#include <termios.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/chat/screen.h"

namespace quire::cli {

enum class TerminalMode : uint8_t {
  kOriginal,
  kEdit,    // byte by byte, no echo, Ctrl-C is a byte; bracketed paste
  kAnswer,  // the same, for keys typed ahead while an answer is written, but Ctrl-C is a signal
};

class Terminal {
 public:
  // Whether standard input and standard error are terminals that can be edited on (not TERM=dumb).
  static bool usable();

  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void set_mode(TerminalMode mode);
  // Waits for bytes. Empty: interrupted by a signal, such as a change of size. Errors: kIo (the terminal is
  // gone or at its end).
  Result<std::string> read();
  void write(std::string_view bytes);
  ScreenSize size() const;
  // Stops the program as Ctrl-Z does, in the original mode; returns when it goes on, in the mode it had.
  void suspend();

 private:
  static constexpr std::array kSignals = {SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};

  TerminalMode mode_ = TerminalMode::kOriginal;
  std::array<struct sigaction, kSignals.size()> former_ = {};
};

}  // namespace quire::cli

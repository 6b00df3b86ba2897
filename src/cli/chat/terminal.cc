#include "cli/chat/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "cli/standard_streams.h"

namespace quire::cli {
namespace {

constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";

// What the signal handlers need; written before they are installed, by the one Terminal there is.
termios original_mode = {};
bool terminal_exists = false;

// Only async-signal-safe calls from here on.
void restore() {
  write_standard_error(kPasteOff);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &original_mode);
}

void on_fatal_signal(int signal) {
  restore();
  // The action is the default again (SA_RESETHAND): let the signal do its work.
  ::raise(signal);
}

void on_resize(int) {}  // only there to interrupt read()

}  // namespace

bool Terminal::usable() {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  return !dumb && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

Terminal::Terminal() {
  QUIRE_CHECK(!terminal_exists);
  terminal_exists = true;
  ::tcgetattr(STDIN_FILENO, &original_mode);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    const bool resize = kSignals[i] == SIGWINCH;
    action.sa_handler = resize ? on_resize : on_fatal_signal;
    action.sa_flags = resize ? 0 : static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &former_[i]);
  }
}

Terminal::~Terminal() {
  set_mode(TerminalMode::kOriginal);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former_[i], nullptr);
  terminal_exists = false;
}

void Terminal::set_mode(TerminalMode mode) {
  if (mode == mode_) return;
  if (mode_ == TerminalMode::kEdit) write_standard_error(kPasteOff);
  termios wanted = original_mode;
  if (mode != TerminalMode::kOriginal) {
    wanted.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    wanted.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN);
    if (mode == TerminalMode::kEdit) wanted.c_lflag &= ~static_cast<tcflag_t>(ISIG);
    wanted.c_cc[VMIN] = 1;
    wanted.c_cc[VTIME] = 0;
  }
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &wanted);
  if (mode == TerminalMode::kEdit) write_standard_error(kPasteOn);
  mode_ = mode;
}

Result<std::string> Terminal::read() {
  std::string bytes(4096, '\0');
  const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (n < 0 && errno == EINTR) return std::string();
  if (n <= 0) return make_error(ErrorCode::kIo, "the terminal is closed");
  bytes.resize(static_cast<size_t>(n));
  return bytes;
}

void Terminal::write(std::string_view bytes) { write_standard_error(bytes); }

ScreenSize Terminal::size() const {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {.columns = size.ws_col, .rows = size.ws_row};
}

void Terminal::suspend() {
  const TerminalMode mode = mode_;
  set_mode(TerminalMode::kOriginal);
  ::kill(0, SIGTSTP);  // the whole job, as the terminal would
  set_mode(mode);
}

}  // namespace quire::cli

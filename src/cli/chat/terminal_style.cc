#include "cli/chat/terminal_style.h"

#include <unistd.h>

#include <cstdlib>

namespace quire::cli {

TerminalStyle terminal_style() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = no_color == nullptr || *no_color == '\0';
  const bool able = term != nullptr && std::string_view(term) != "dumb" && ::isatty(STDERR_FILENO) == 1;
  if (!wanted || !able) return {};
  return {.prompt = "\x1b[1;36m", .dim = "\x1b[2m", .bold = "\x1b[1m", .reset = "\x1b[0m"};
}

}  // namespace quire::cli

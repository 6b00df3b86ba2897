#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace quire::cli {

Console::Console(const CommonOptions& options)
    : json_(options.json),
      draws_progress_(!options.quiet && ::isatty(STDERR_FILENO) == 1),
      log_(options.quiet ? LogLevel::kError : options.log_level) {}

void Console::write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void Console::print_json(const Json& value) {
  write(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  write("\n");
}

Status Console::flush() {
  // The error flag stays up when an earlier write failed; its errno is gone by now.
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed_before) return {};
  return make_error(ErrorCode::kIo, "cannot write to standard output{}{}", errno != 0 ? ": " : "",
                    errno != 0 ? std::strerror(errno) : "");
}

}  // namespace quire::cli

#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/standard_streams.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxUnwritten = 1 << 16;

}  // namespace

Console::Console(const CommonOptions& options)
    : json_(options.json),
      draws_progress_(!options.quiet && ::isatty(STDERR_FILENO) == 1),
      log_(options.quiet ? LogLevel::kError : options.log_level) {}

void Console::write(std::string_view text) {
  unwritten_ += text;
  if (unwritten_.size() >= kMaxUnwritten) hand_over();
}

void Console::print_json(const Json& value) {
  write(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  write("\n");
}

Status Console::flush() {
  hand_over();
  if (write_error_ == 0) return {};
  return make_error(ErrorCode::kIo, "cannot write to standard output: {}", std::strerror(write_error_));
}

void Console::hand_over() {
  const WriteResult result = write_some(STDOUT_FILENO, unwritten_);
  unwritten_.erase(0, result.n_written);
  // Who interrupted a write that had to wait wants to be heard now; the rest is written with what comes next.
  if (result.error == 0 || result.error == EINTR) return;
  write_error_ = result.error;
  unwritten_.clear();
}

}  // namespace quire::cli

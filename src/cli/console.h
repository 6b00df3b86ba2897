// Console: where a command writes. Results go to standard output, everything else to standard error.
//
// One per program run, made by run_program() from the common options and handed to the command; outlives it.
// The log sink may be used from any thread, the rest from the main thread.
//
//   if (console.json()) console.print_json({{"ids", ids}});
//   else console.print("{} tokens\n", ids.size());
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "cli/common_options.h"

namespace quire::cli {

// Keeps keys in the order they were written, so that output is stable.
using Json = nlohmann::ordered_json;

class Console {
 public:
  explicit Console(const CommonOptions& options);

  bool json() const { return json_; }
  // Whether progress may be drawn: standard error is a terminal and --quiet was not given.
  bool draws_progress() const { return draws_progress_; }
  LogSink& log() { return log_; }

  void write(std::string_view text);
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }
  // One line; invalid UTF-8 in strings becomes U+FFFD.
  void print_json(const Json& value);
  // Hands everything to the system, or, when a signal interrupts that, what it takes without waiting. Errors:
  // kIo when any of the output since the start could not be written.
  Status flush();

 private:
  void hand_over();

  std::string unwritten_;
  int write_error_ = 0;  // errno of the first write that failed
  bool json_;
  bool draws_progress_;
  StderrLogSink log_;
};

}  // namespace quire::cli

// Logging through a sink that the program supplies; libraries never write to a stream themselves.
//
// A LogSink is owned by the program and outlives every component it is handed to. Sinks must be callable
// from any thread. There is no global sink: components that log take a `LogSink&` (or keep silent).
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace quire {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view line) = 0;
};

// Drops everything.
class NullLogSink final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

// Writes "warning: ..." lines to standard error from `minimum` up; the program installs one of these.
class StderrLogSink final : public LogSink {
 public:
  explicit StderrLogSink(LogLevel minimum) : minimum_(minimum) {}
  void write(LogLevel level, std::string_view line) override;

 private:
  LogLevel minimum_;
};

template <typename... Args>
void log(LogSink& sink, LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  sink.write(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace quire

#include "base/log.h"

#include <cstdio>
#include <string>

namespace quire {
namespace {

std::string_view prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug: ";
    case LogLevel::kInfo:
      return "info: ";
    case LogLevel::kWarning:
      return "warning: ";
    case LogLevel::kError:
      return "error: ";
  }
  return "";
}

}  // namespace

void StderrLogSink::write(LogLevel level, std::string_view line) {
  if (level < minimum_) return;
  // One call per line: stdio locks the stream for its length, so lines of several threads do not mix.
  const std::string text = fmt::format("{}{}\n", prefix(level), line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace quire

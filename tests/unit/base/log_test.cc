#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace quire {
namespace {

TEST(Log, FormatsIntoTheSink) {
  struct Recorder final : LogSink {
    std::vector<std::pair<LogLevel, std::string>> lines;
    void write(LogLevel level, std::string_view line) override { lines.emplace_back(level, line); }
  } sink;
  log(sink, LogLevel::kWarning, "{} of {}", 2, "three");
  ASSERT_EQ(sink.lines.size(), 1u);
  EXPECT_EQ(sink.lines[0], std::make_pair(LogLevel::kWarning, std::string("2 of three")));
}

TEST(Log, StderrSinkNamesTheLevelAndFilters) {
  StderrLogSink sink(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  sink.write(LogLevel::kDebug, "hidden");
  sink.write(LogLevel::kInfo, "a");
  sink.write(LogLevel::kWarning, "b");
  sink.write(LogLevel::kError, "c");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "info: a\nwarning: b\nerror: c\n");
}

TEST(Log, NullSinkDropsEverything) {
  NullLogSink sink;
  testing::internal::CaptureStderr();
  log(sink, LogLevel::kError, "nothing");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace quire

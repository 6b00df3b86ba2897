#include "base/trace_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace quire {
namespace {

class KeepingLogSink final : public LogSink {
 public:
  void write(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

int64_t count_lines_with(const std::string& path, std::string_view mark) {
  std::ifstream file(path);
  int64_t n = 0;
  for (std::string line; std::getline(file, line);) n += line.find(mark) != std::string::npos ? 1 : 0;
  return n;
}

TEST(TraceFile, WritesOrCountsEverySpanHoweverFastTheyCome) {
  constexpr int64_t kSpans = 300'000;
  const std::string path = testing::TempDir() + "/fast.json";
  KeepingLogSink log;
  {
    auto trace = TraceFile::create(path, log);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const int32_t kind = (*trace)->add_kind({.name = "span", .category = "test", .arguments = {"i"}});
    for (int64_t i = 0; i < kSpans; ++i) {
      const auto now = TraceFile::Clock::now();
      (*trace)->record({.kind = kind, .begin = now, .end = now, .arguments = {i}});
    }
  }
  const int64_t written = count_lines_with(path, "\"ph\":\"X\",\"name\":\"span\"");
  EXPECT_GT(written, 0);
  int64_t dropped = 0;
  if (written < kSpans) {
    ASSERT_EQ(log.lines.size(), 1u);
    const size_t at = log.lines[0].find("lacks ");
    ASSERT_NE(at, std::string::npos) << log.lines[0];
    dropped = std::atoll(log.lines[0].c_str() + at + 6);
  }
  EXPECT_EQ(written + dropped, kSpans);
}

TEST(TraceFile, WritesTimesAndTextAsTheFormatWantsThem) {
  const std::string path = testing::TempDir() + "/text.json";
  KeepingLogSink log;
  {
    auto trace = TraceFile::create(path, log);
    ASSERT_TRUE(trace.ok());
    const int32_t kind = (*trace)->add_kind({.name = "a\"b\\c\n\xff", .category = "test"});
    const auto begin = TraceFile::Clock::now();
    TraceFile::Span span{.kind = kind, .begin = begin, .end = begin + std::chrono::nanoseconds(1'002'003)};
    span.text = {'i', 'd', '"'};
    (*trace)->record(span);
  }
  EXPECT_EQ(count_lines_with(path, R"("name":"a?b?c??","cat":"test")"), 1);
  EXPECT_EQ(count_lines_with(path, R"("dur":1002.003,"args":{"id":"id?"}})"), 1);
  EXPECT_TRUE(log.lines.empty());
}

TEST(TraceFile, EndsWithOneWarningWhenTheDiskIsFull) {
  KeepingLogSink log;
  {
    auto trace = TraceFile::create("/dev/full", log);
    ASSERT_TRUE(trace.ok());
    const int32_t kind = (*trace)->add_kind({.name = "span"});
    for (int i = 0; i < 1000; ++i) (*trace)->record({.kind = kind});
  }
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].find("No space left"), std::string::npos);
}

TEST(TraceFile, SaysThatAFileCannotBeWritten) {
  NullLogSink log;
  const auto trace = TraceFile::create(testing::TempDir() + "/no/such/folder/x", log);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace quire

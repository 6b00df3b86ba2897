#include "cli/progress.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(RenderProgress, ShowsShareAmountAndSpeed) {
  EXPECT_EQ(render_progress("Loading", 500, 1000, 0.1, 60),
            "Loading [#############              ]  50%  500 B of 1.00 kB");
  EXPECT_EQ(render_progress("Loading", 50'000'000, 100'000'000, 2, 62),
            "Loading [########         ]  50%  50.0 MB of 100 MB, 25.0 MB/s");
}

TEST(RenderProgress, CountsTokens) {
  EXPECT_EQ(render_progress("Predicting", 500, 1000, 2, 72, ProgressUnit::kTokens),
            "Predicting [######       ]  50%  500 tokens of 1000 tokens, 250 tokens/s");
}

TEST(RenderProgress, StaysWithinTheTerminal) {
  for (size_t columns = 1; columns <= 120; ++columns) {
    for (const uint64_t done : {0, 333, 1000}) {
      EXPECT_LE(render_progress("Loading", done, 1000, 1, columns).size(), columns);
    }
  }
}

TEST(RenderProgress, TakesAnyNumbers) {
  EXPECT_NE(render_progress("x", 0, 0, 0, 60).find("100%"), std::string::npos);
  EXPECT_NE(render_progress("x", 20, 10, 1, 60).find("100%"), std::string::npos);
  EXPECT_NE(render_progress("x", 0, UINT64_MAX, 1, 60).find("  0%"), std::string::npos);
}

TEST(ProgressBar, IsSilentWhereItMayNotDraw) {
  ::testing::internal::CaptureStderr();
  {
    ProgressBar bar(false, "Loading", 100);
    for (uint64_t i = 0; i <= 100; ++i) bar.update(i);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressBar, DrawsRarelyAndErasesItself) {
  ::testing::internal::CaptureStderr();
  {
    ProgressBar bar(true, "Loading", 100);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
    while (std::chrono::steady_clock::now() < end) bar.update(50);
  }
  const std::string drawn = ::testing::internal::GetCapturedStderr();
  size_t times = 0;
  for (size_t at = drawn.find("Loading"); at != std::string::npos; at = drawn.find("Loading", at + 1))
    ++times;
  EXPECT_GE(times, 1u);
  EXPECT_LE(times, 3u);
  EXPECT_TRUE(drawn.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace quire::cli

#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(ExitCode, FollowsTheCommandLineContract) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kUnsupported,
        ErrorCode::kContextLength, ErrorCode::kIo, ErrorCode::kInternal}) {
    EXPECT_EQ(static_cast<int>(exit_code_for(code)), 1);
  }
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorCode::kResourceExhausted)), 3);
  EXPECT_EQ(static_cast<int>(exit_code_for(ErrorCode::kCancelled)), 130);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::kDifference), 4);
}

}  // namespace
}  // namespace quire::cli

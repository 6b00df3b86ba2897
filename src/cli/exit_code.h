// Exit codes of the program, and the one table from error codes to them.
#pragma once

#include "base/result.h"

namespace quire::cli {

enum class ExitCode {
  kDone = 0,
  kFailed = 1,      // the work failed; the message says what and what to do
  kUsage = 2,       // wrong options or arguments
  kDoesNotFit = 3,  // does not fit in the memory given
  kDifference = 4,  // a check found a difference
  kInterrupted = 130,
};

ExitCode exit_code_for(ErrorCode code);

}  // namespace quire::cli

#include "cli/exit_code.h"

namespace quire::cli {

// A switch without default, so that a new error code cannot be forgotten here.
ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
    case ErrorCode::kContextLength:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return ExitCode::kFailed;
    case ErrorCode::kResourceExhausted:
      return ExitCode::kDoesNotFit;
    case ErrorCode::kCancelled:
      return ExitCode::kInterrupted;
  }
  return ExitCode::kFailed;
}

}  // namespace quire::cli

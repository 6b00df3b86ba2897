// The program's two output streams, written without stdio.
//
// stdio's error flag stays up after a write that a signal interrupted (Ctrl-C, a resized window), and every
// later write then looks failed. Callable from any thread and from signal handlers.
#pragma once

#include <string_view>

#include "base/write_all.h"

namespace quire::cli {

// Until everything is written or a write fails, be it by a signal (EINTR).
WriteResult write_some(int fd, std::string_view bytes);

// All of it, through signals. Nobody can be told of a failure to write to standard error, so none is
// reported.
void write_standard_error(std::string_view bytes);

}  // namespace quire::cli

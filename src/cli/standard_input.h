// The whole of standard input.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace quire::cli {

// Every byte up to the end of standard input. Errors: kIo; kInvalidArgument when there are more than
// `max_bytes`.
Result<std::string> read_standard_input(size_t max_bytes);

}  // namespace quire::cli

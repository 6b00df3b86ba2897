// How much memory this process could still take.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace quire {

// What the system says is available, or what the process's control group leaves, whichever is less: bytes.
// Errors: kIo when the system does not say.
Result<uint64_t> available_memory();

}  // namespace quire

// Amounts of memory as people write them. Pure function.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace quire::cli {

// Bytes for "4GB", "512MiB", "1.5 G", "800000000": kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of
// 1024, the B and the case do not matter. Errors: kInvalidArgument (no such amount, or not a positive one).
Result<uint64_t> parse_size(std::string_view text);

}  // namespace quire::cli

// Sizes and counts as people read them: three significant digits. Pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace quire {

// "1.12 GB", "98.4 MB", "512 B": decimal units, as file sizes are given.
std::string format_size(uint64_t bytes);

// "1.54 B", "134.5 M", "270": a count of parameters.
std::string format_count(uint64_t count);

}  // namespace quire

// Numbers and tables as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::cli {

// "1.12 GB", "98.4 MB", "512 B": decimal units, as file sizes are given.
std::string format_size(uint64_t bytes);

// "1.54 B", "134.5 M", "270": a count of parameters.
std::string format_count(uint64_t count);

// Columns padded to their widest cell and two spaces apart; width is counted in characters.
// Every row holds as many cells as `align` has letters: 'l' or 'r'.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& align);

}  // namespace quire::cli

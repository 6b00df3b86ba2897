// Tables as people read them; the numbers in them are base/quantity_text.h's. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/quantity_text.h"

namespace quire::cli {

// Columns padded to their widest cell and two spaces apart; width is counted in characters.
// Every row holds as many cells as `align` has letters: 'l' or 'r'.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& align);

}  // namespace quire::cli

#include "cli/size_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

namespace quire::cli {
namespace {

struct Unit {
  std::string_view name;  // in lower case, without the b of bytes
  double bytes;
};
constexpr std::array<Unit, 9> kUnits = {{{"", 1},
                                         {"k", 1e3},
                                         {"m", 1e6},
                                         {"g", 1e9},
                                         {"t", 1e12},
                                         {"ki", 0x1p10},
                                         {"mi", 0x1p20},
                                         {"gi", 0x1p30},
                                         {"ti", 0x1p40}}};

Error no_size(std::string_view text) {
  return make_error(ErrorCode::kInvalidArgument,
                    "'{}' is no amount of memory, expected one like 4GB or 512MiB", text);
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  std::string unit(text);
  if (unit.empty() || std::isdigit(static_cast<unsigned char>(unit[0])) == 0) return no_size(text);
  const size_t digits = unit.find_first_not_of("0123456789.");
  const std::string number = unit.substr(0, digits);
  if (std::count(number.begin(), number.end(), '.') > 1) return no_size(text);
  const double value = std::strtod(number.c_str(), nullptr);
  unit.erase(0, number.size());
  unit.erase(0, unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!unit.empty() && unit.back() == 'b') unit.pop_back();
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    const double bytes = std::floor(value * known.bytes);
    if (bytes < 1 || bytes > 0x1p62) return no_size(text);
    return static_cast<uint64_t>(bytes);
  }
  return no_size(text);
}

}  // namespace quire::cli

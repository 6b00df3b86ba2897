#include "base/quantity_text.h"

#include <fmt/core.h>

#include <array>

namespace quire {
namespace {

// Three significant digits with the largest unit that leaves at least one before the point.
std::string scaled(uint64_t value, const std::array<const char*, 5>& units) {
  auto rest = static_cast<double>(value);
  size_t unit = 0;
  // 999.5 would be rounded to 1000.
  while (rest >= 999.5 && unit + 1 < units.size()) {
    rest /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{}{}", value, units[0]);
  const int digits = rest < 9.995 ? 2 : rest < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", rest, digits, units[unit]);
}

}  // namespace

std::string format_size(uint64_t bytes) { return scaled(bytes, {" B", " kB", " MB", " GB", " TB"}); }

std::string format_count(uint64_t count) { return scaled(count, {"", " K", " M", " B", " T"}); }

}  // namespace quire

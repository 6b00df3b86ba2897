#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace quire::cli {
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

size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string format_size(uint64_t bytes) { return scaled(bytes, {" B", " kB", " MB", " GB", " TB"}); }

std::string format_count(uint64_t count) { return scaled(count, {"", " K", " M", " B", " T"}); }

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& align) {
  std::vector<size_t> widths(align.size());
  for (const std::vector<std::string>& row : rows) {
    QUIRE_CHECK(row.size() == align.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      if (i != 0) line += "  ";
      line += align[i] == 'r' ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace quire::cli

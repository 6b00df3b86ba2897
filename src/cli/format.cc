#include "cli/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace quire::cli {
namespace {

size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

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

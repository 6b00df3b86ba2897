#include "engine/memory_plan.h"

#include <fmt/format.h>

#include <array>

namespace quire {

size_t MemoryPlan::total_bytes() const {
  size_t total = 0;
  for (const PlanRow& row : rows) total += row.place == "file" ? 0 : row.bytes;
  return total;
}

std::string format_bytes(size_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 2 : value < 99.5 ? 1 : 0, kUnits[unit]);
}

}  // namespace quire

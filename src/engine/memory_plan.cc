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

Status check_budget(const MemoryPlan& plan, size_t budget) {
  const size_t total = plan.total_bytes();
  if (budget == 0 || total <= budget) return {};
  std::string parts;
  size_t kv = 0;
  for (const PlanRow& row : plan.rows) {
    if (row.place == "file") continue;
    if (row.kind == "kv") kv += row.bytes;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", row.kind, format_bytes(row.bytes));
  }
  const size_t without_kv = total - kv;
  std::string advice = "choose a smaller model or a smaller quantisation";
  if (without_kv < budget && kv > 0) {
    // KV bytes are proportional to sequences x context.
    const double share = static_cast<double>(budget - without_kv) / static_cast<double>(kv);
    const auto context = static_cast<int64_t>(share * static_cast<double>(plan.max_context)) / 256 * 256;
    if (context >= 256) advice = fmt::format("--ctx {} would fit", context);
  }
  return make_error(ErrorCode::kResourceExhausted, "{} needed ({}), {} given: {}", format_bytes(total), parts,
                    format_bytes(budget), advice);
}

}  // namespace quire

#include "cli/plan_text.h"

#include <fmt/format.h>

#include <vector>

#include "cli/format.h"

namespace quire::cli {

std::string plan_text(const MemoryPlan& plan) {
  std::vector<std::vector<std::string>> rows = {{"kind", "place", "bytes", "size", "detail"}};
  for (const PlanRow& row : plan.rows)
    rows.push_back({row.kind, row.place, fmt::format("{}", row.bytes), format_size(row.bytes), row.detail});
  const size_t total = plan.total_bytes();
  rows.push_back(
      {"total", "host", fmt::format("{}", total), format_size(total),
       fmt::format("{} of up to {} tokens; file rows are not counted",
                   plan.max_sequences == 1 ? "1 sequence" : fmt::format("{} sequences", plan.max_sequences),
                   plan.max_context)});
  return format_table(rows, "llrrl");
}

}  // namespace quire::cli

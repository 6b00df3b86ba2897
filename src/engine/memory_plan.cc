#include "engine/memory_plan.h"

namespace quire {

size_t MemoryPlan::total_bytes() const {
  size_t total = 0;
  for (const PlanRow& row : rows) total += row.place == "file" ? 0 : row.bytes;
  return total;
}

}  // namespace quire

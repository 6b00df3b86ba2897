#include "measure/statistics.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace quire {

Spread spread_of(std::span<const double> values) {
  QUIRE_CHECK(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {.median = median, .min = sorted.front(), .max = sorted.back()};
}

}  // namespace quire

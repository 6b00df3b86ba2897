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

double quantile_of(std::span<const double> values, double q) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  return sorted[static_cast<size_t>(rank)];
}

}  // namespace quire

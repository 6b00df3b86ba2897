#include "histogram.h"

#include <algorithm>
#include <cmath>

namespace quire::simulator {

void Histogram::add(double seconds) {
  const double i = std::log(std::max(seconds, kSmallest) / kSmallest) / std::log(kRatio);
  ++counts_[std::min(static_cast<size_t>(i), counts_.size() - 1)];
  ++count_;
}

double Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<int64_t>(q * static_cast<double>(count_ - 1));
  int64_t below = 0;
  size_t i = 0;
  while ((below += counts_[i]) <= rank) ++i;
  return kSmallest * std::pow(kRatio, static_cast<double>(i) + 0.5);
}

}  // namespace quire::simulator

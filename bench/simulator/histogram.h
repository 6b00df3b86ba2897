// Histogram: percentiles of any number of times, to within 2%, in a fixed amount of memory. Plain value.
#pragma once

#include <array>
#include <cstdint>

namespace quire::simulator {

class Histogram {
 public:
  void add(double seconds);
  int64_t count() const { return count_; }
  // The time that a fraction q of all is not above; 0 when there is none.
  double quantile(double q) const;

 private:
  static constexpr double kSmallest = 1e-4, kRatio = 1.02;
  std::array<int64_t, 1024> counts_ = {};  // of [kSmallest * kRatio^i, ...): up to about 18 hours
  int64_t count_ = 0;
};

}  // namespace quire::simulator

// Median, least, greatest and quantiles of repeated measurements. Pure functions.
#pragma once

#include <span>

namespace quire {

struct Spread {
  double median = 0, min = 0, max = 0;
};

// `values` must not be empty. The median of an even number of values is the mean of the middle two.
Spread spread_of(std::span<const double> values);

// The value that a fraction q of all is not above; 0 when there is none.
double quantile_of(std::span<const double> values, double q);

}  // namespace quire

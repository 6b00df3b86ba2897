// The recurrences as test cases: how to call each, how large its parts are, and what it should give in double
// precision.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/recurrent.h"

namespace quire::kernels::test {

// Rows of inputs side by side, as slices of one wider value, and the weights.
struct RecurrentInputs {
  int64_t n_rows = 0, ld = 0;
  std::vector<float> rows;     // [n_rows, ld]
  std::vector<float> weights;  // as the case reads them
};

struct RecurrentCase {
  std::string name;
  int64_t n_in = 0, n_out = 0;  // columns of inputs and of y
  int64_t n_weights = 0;
  int64_t n_units = 0, state_floats = 0;
  std::function<void(const RecurrentOps& ops, const StateSlots& state, const RecurrentInputs& in, float* y,
                     const StateSpan& span, int64_t unit_begin, int64_t unit_end)>
      run;
  // y of all rows from an empty state, [n_rows, n_out].
  std::function<std::vector<double>(const RecurrentInputs& in)> truth;
};

// Names the case in test output.
inline void PrintTo(const RecurrentCase& recurrent_case, std::ostream* out) { *out << recurrent_case.name; }

std::vector<RecurrentCase> recurrent_cases();

}  // namespace quire::kernels::test

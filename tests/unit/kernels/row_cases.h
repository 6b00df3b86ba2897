// Every row operation as a test case: how to call it, and what it should give in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/row_ops.h"

namespace quire::kernels::test {

// Inputs and outputs of one call. `a`, `b` and `y` hold n_rows rows of `width` values, `ld` apart.
struct RowBuffers {
  int64_t n_rows = 0, n_cols = 0, width = 0, ld = 0;
  std::vector<float> a, b, weight, bias, table;
  std::vector<int32_t> index, positions;
  std::vector<float> y, sum;
  std::vector<int32_t> ids;  // [n_rows, n_cols], of which a case may use fewer
};

// Where the result goes: a buffer of its own, or over the first input.
enum class Output { kSeparate, kInPlace };

struct RowCase {
  std::string name;
  int64_t width_per_col = 1;  // groups, heads or tables side by side
  int64_t col_multiple = 1;   // n_cols must be a multiple of this
  int64_t max_cols = 1 << 20;
  bool dense = false;    // rows touch each other: ld == width
  bool in_place = true;  // may write over `a`
  std::function<void(const RowOps& ops, RowBuffers& buffers, Output output, int64_t begin, int64_t end)> run;
  // The true result, [n_rows, width]; empty when ids are the result.
  std::function<std::vector<double>(const RowBuffers& buffers)> truth;
  // Allowed error, relative to max(|truth|, 1).
  double tolerance = 0.0;
};

// Names the case in test output.
inline void PrintTo(const RowCase& row_case, std::ostream* out) { *out << row_case.name; }

const std::vector<RowCase>& row_cases();

enum class Values { kOrdinary, kHostile };
RowBuffers make_buffers(const RowCase& row_case, int64_t n_rows, int64_t n_cols, Values values,
                        uint32_t seed);

}  // namespace quire::kernels::test

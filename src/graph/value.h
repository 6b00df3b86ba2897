// Value: a handle to an intermediate result of a program, and what is known about it before anything runs.
//
// A value is a matrix [rows, cols]: cols is fixed, rows is a symbol whose number each step supplies (Rows).
// Handles are indices into one Program and mean nothing outside it. Plain data; thread safe once the program
// is built.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/linear.h"

namespace quire::graph {

// What a value has one row of.
enum class Rows : uint8_t {
  kTokens,   // every token of the step
  kOutputs,  // the tokens whose logits are wanted
};
inline constexpr int kRowsCount = 2;

// How a row is stored.
enum class DataType : uint8_t {
  kF32,
  kQ8x32,        // int8 activations, a scale per 32 values, in the tile layout of kernels/linear.h
  kQ8x32Pair,    // the same in two planes: rows [0, n) hold the first, rows [n, 2n) the second
  kF32Pair,      // what a linear layer makes of two planes, likewise
  kI32,          // expert ids
  kExpertOrder,  // how pairs of rows and experts are sorted (expert_order.h); cols is the number of experts
};

struct Value {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
  friend bool operator==(Value, Value) = default;
};

struct ValueInfo {
  Rows rows = Rows::kTokens;
  int64_t cols = 0;
  DataType type = DataType::kF32;
  // Values of row-expert pairs: each row stands for n_used rows of cols / n_used columns, one for each expert
  // it goes to, and all of them lie sorted by expert. 0 for all other values.
  int64_t n_used = 0;
  // A view shares the memory of `parent`: columns [offset, offset + cols) of it. Parents are never views.
  Value parent = {};
  int64_t offset = 0;
  // A tap keeps its memory for the whole step, so that it can be read afterwards (logits, hidden rows).
  bool tap = false;
  std::string name = {};
};

// Rows in memory for each row of the value.
inline int64_t planes(DataType type) {
  return type == DataType::kQ8x32Pair || type == DataType::kF32Pair ? 2 : 1;
}

// Rows in memory for `rows` rows of the value, and their columns.
inline int64_t memory_rows(const ValueInfo& info, int64_t rows) {
  return rows * planes(info.type) * (info.n_used > 0 ? info.n_used : 1);
}
inline int64_t memory_cols(const ValueInfo& info) {
  return info.n_used > 0 ? info.cols / info.n_used : info.cols;
}

// Whether rows are quantised activations rather than floats.
inline bool is_quantized(DataType type) { return type == DataType::kQ8x32 || type == DataType::kQ8x32Pair; }

}  // namespace quire::graph

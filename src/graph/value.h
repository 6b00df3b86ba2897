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
  kQ8x32,   // int8 activations, a scale per 32 values, in the tile layout of kernels/linear.h
  kQ8x256,  // the same with a scale per 256 values
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
  // A view shares the memory of `parent`: columns [offset, offset + cols) of it. Parents are never views.
  Value parent;
  int64_t offset = 0;
  // A tap keeps its memory for the whole step, so that it can be read afterwards (logits, hidden rows).
  bool tap = false;
  std::string name;
};

inline kernels::ActivationKind activation_kind(DataType type) {
  switch (type) {
    case DataType::kF32:
      return kernels::ActivationKind::kF32;
    case DataType::kQ8x32:
      return kernels::ActivationKind::kQ8x32;
    case DataType::kQ8x256:
      return kernels::ActivationKind::kQ8x256;
  }
  return kernels::ActivationKind::kF32;
}

inline DataType data_type(kernels::ActivationKind kind) {
  switch (kind) {
    case kernels::ActivationKind::kF32:
      return DataType::kF32;
    case kernels::ActivationKind::kQ8x32:
      return DataType::kQ8x32;
    case kernels::ActivationKind::kQ8x256:
      return DataType::kQ8x256;
  }
  return DataType::kF32;
}

}  // namespace quire::graph

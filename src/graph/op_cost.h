// What an op has to do in a step, counted and not measured: operations and bytes, for speeds beside the
// machine's limits.
//
// Operations count a multiply-add as two, in linear layers, attention and recurrences only; the rest is small
// beside them. Activations of two planes are multiplied twice. Bytes are the ones that must be moved at least
// once: weights as packed, stored keys and values that some query sees, states, and the rows an op reads and
// writes. Of experts, those count that the rows of a step are expected to reach when all are equally likely:
// exact for one row. Pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "graph/program.h"

namespace quire::graph {

// The tokens of one sequence in a step: positions [start, start + n_tokens).
struct SpanShape {
  int64_t start = 0;
  int64_t n_tokens = 0;
};

struct StepShape {
  std::span<const SpanShape> spans;
  int64_t n_outputs = 0;
  int32_t kv_element_bytes = 2;
};

struct OpCost {
  double dot_operations = 0;  // on int8 activations
  double fma_operations = 0;  // on f32
  double memory_bytes = 0;    // weights, keys and values, states
  double row_bytes = 0;       // inputs and outputs

  double operations() const { return dot_operations + fma_operations; }
  OpCost& operator+=(const OpCost& other);
};

OpCost op_cost(const Program& program, const Op& op, const StepShape& shape);

// All ops of one step.
OpCost step_cost(const Program& program, const StepShape& shape);

}  // namespace quire::graph

// Row ops on pairs of rows and experts, which lie sorted by expert (graph/expert_order.h).
//
// Rows [begin, end) of the step stand for sorted rows [begin, end) * n_used here: as many, though not of the
// same tokens. Called by any thread on disjoint ranges.
#pragma once

#include <cstdint>

#include "graph/cpu/step_context.h"

namespace quire::graph {

// x, order -> a row for each pair: x's row of the step.
void run_gather_pairs(const StepContext& context, const Op& op, int64_t begin, int64_t end);

// x of pairs, order -> the same rows quantised.
void run_quantize_pairs(const StepContext& context, const Op& op, int64_t begin, int64_t end);

// y of pairs, order, weights -> the weighted sum of each row's pairs.
void run_combine(const StepContext& context, const Op& op, int64_t begin, int64_t end);

}  // namespace quire::graph

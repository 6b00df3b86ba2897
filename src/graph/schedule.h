// Phases and the arena plan: in what pieces a program runs, and where each value lies while it does.
//
// A phase is a stretch of ops between two barriers. Row ops that follow each other on the same rows form one
// phase: each thread takes a few rows through all of them while they are warm. A linear group, an attention,
// a recurrence, a gather and the sorting of pairs are phases of their own; merge_head makes one of the
// program's end, merge_gated one of each gated feed-forward network's beginning. The plan gives every value
// an offset in one arena for the largest step; values whose lives (in phases) do not overlap share bytes.
// Planning allocates nothing. Pure functions; results are plain data. Source of the placement rule: greedy by
// size (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/program.h"

namespace quire::graph {

enum class PhaseKind : uint8_t {
  kRows,
  kLinear,
  kAttention,
  kGather,
  kSortPairs,
  kExpertLinear,
  kHead,
  kGatedLinear,
  kRecurrent
};

struct Phase {
  PhaseKind kind = PhaseKind::kRows;
  Rows rows = Rows::kTokens;
  int32_t first_op = 0, end_op = 0;  // ops [first_op, end_op)
};

// Whether row ops share phases (the optimisation `row-phases`) or each stands alone.
enum class RowPhases : uint8_t { kMerged, kSeparate };
std::vector<Phase> make_phases(const Program& program, RowPhases row_phases);

// Makes the linear layer that gives the logits and what follows it, when that is only the sum of two planes,
// scales and soft caps, the last phase, of kind kHead. False, and nothing changes, where the program ends
// otherwise.
bool merge_head(const Program& program, std::vector<Phase>& phases);

// Makes each pair of linear layers whose outputs gate one another, the gating and the quantising of its
// result one phase, of kind kGatedLinear, where nothing else stands between them or reads what they hand on,
// which then takes no place in the arena. Returns how many there are.
int merge_gated(const Program& program, std::vector<Phase>& phases);

// The largest step a program will run: rows of each kind.
struct StepLimits {
  int64_t max_tokens = 1;
  int64_t max_outputs = 1;
  int64_t max_rows(Rows rows) const { return rows == Rows::kTokens ? max_tokens : max_outputs; }
};

struct ArenaPlan {
  std::vector<size_t> offsets;  // by value id; views have their parent's
  size_t bytes = 0;             // of the whole arena
  size_t tap_bytes = 0;         // the part of it that taps hold (logits, hidden rows)
};

// Bytes of one value at the limits, a multiple of 64.
size_t value_bytes(const ValueInfo& info, const StepLimits& limits);

ArenaPlan plan_arena(const Program& program, const std::vector<Phase>& phases, const StepLimits& limits);

}  // namespace quire::graph

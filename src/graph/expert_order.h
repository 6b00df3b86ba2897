// ExpertOrder: the row-expert pairs of a step sorted by expert, so that the rows of one expert lie together.
//
// Pair j of row t is the j-th expert that t was routed to. A pair's place among all is its sorted row; inside
// an expert pairs keep the order of their rows. The index arrays live in a value of the program
// (DataType::kExpertOrder), sorted once per step and layer and read by every op on pairs; nothing here owns
// memory. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/linear.h"

namespace quire::graph {

// One expert's pairs: sorted rows [begin, begin + n_rows).
struct ExpertGroup {
  int32_t expert, begin, n_rows;
};

struct ExpertOrder {
  std::span<const ExpertGroup> groups;  // of the experts that some row goes to, ascending
  const int32_t* source;                // [n_pairs] by sorted row: the row of the step it stands for
  const int32_t* sorted;                // [n_rows, n_used] by pair: its sorted row

  // The index in `groups` of the group that holds a sorted row.
  size_t group_of(int64_t sorted_row) const;
};

// Bytes for up to n_rows rows.
size_t expert_order_bytes(int64_t n_rows, int64_t n_used, int64_t n_expert);

// Sorts the pairs of ids [n_rows, n_used], each id below n_expert, into `memory`.
ExpertOrder sort_pairs(const int32_t* ids, int64_t n_rows, int64_t n_used, int64_t n_expert,
                       std::byte* memory);

// What sort_pairs() left in `memory` for the same counts.
ExpertOrder read_expert_order(const std::byte* memory, int64_t n_rows, int64_t n_used, int64_t n_expert);

// Quantised rows of pairs are tiles of their own for each group. The byte offset of group i, which begins at
// memory row `begin`; and the bytes for n_rows rows in any number of groups.
inline size_t pair_tiles_offset(size_t group, int64_t begin, int64_t cols) {
  return kernels::activation_bytes(kernels::ActivationKind::kQ8x32, begin, cols) + 64 * group;
}
inline size_t pair_tiles_bytes(int64_t n_rows, int64_t cols) {
  return pair_tiles_offset(static_cast<size_t>(n_rows), n_rows, cols);
}

}  // namespace quire::graph

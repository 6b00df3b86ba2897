#include "graph/expert_order.h"

#include <algorithm>

namespace quire::graph {
namespace {

// The arrays in memory, one after the other.
struct Arrays {
  int32_t* n_groups;
  ExpertGroup* groups;  // [n_expert]
  int32_t* source;      // [n_rows * n_used]
  int32_t* sorted;      // [n_rows * n_used]
  int32_t* next;        // [n_expert], for sorting only
};

Arrays arrays_in(std::byte* memory, int64_t n_rows, int64_t n_used, int64_t n_expert) {
  auto* n_groups = reinterpret_cast<int32_t*>(memory);
  auto* groups = reinterpret_cast<ExpertGroup*>(n_groups + 1);
  auto* source = reinterpret_cast<int32_t*>(groups + n_expert);
  int32_t* sorted = source + n_rows * n_used;
  return {n_groups, groups, source, sorted, sorted + n_rows * n_used};
}

ExpertOrder view_of(const Arrays& arrays) {
  return {.groups = {arrays.groups, static_cast<size_t>(*arrays.n_groups)},
          .source = arrays.source,
          .sorted = arrays.sorted};
}

}  // namespace

size_t ExpertOrder::group_of(int64_t sorted_row) const {
  const auto after =
      std::upper_bound(groups.begin(), groups.end(), sorted_row,
                       [](int64_t row, const ExpertGroup& group) { return row < group.begin; });
  return static_cast<size_t>(after - groups.begin()) - 1;
}

size_t expert_order_bytes(int64_t n_rows, int64_t n_used, int64_t n_expert) {
  return static_cast<size_t>(1 + 2 * n_rows * n_used + n_expert) * sizeof(int32_t) +
         static_cast<size_t>(n_expert) * sizeof(ExpertGroup);
}

ExpertOrder sort_pairs(const int32_t* ids, int64_t n_rows, int64_t n_used, int64_t n_expert,
                       std::byte* memory) {
  const Arrays arrays = arrays_in(memory, n_rows, n_used, n_expert);
  std::fill_n(arrays.next, n_expert, 0);
  for (int64_t pair = 0; pair < n_rows * n_used; ++pair) ++arrays.next[ids[pair]];

  int32_t begin = 0;
  *arrays.n_groups = 0;
  for (int32_t expert = 0; expert < n_expert; ++expert) {
    const int32_t n = std::exchange(arrays.next[expert], begin);
    if (n > 0) arrays.groups[(*arrays.n_groups)++] = {.expert = expert, .begin = begin, .n_rows = n};
    begin += n;
  }

  for (int64_t row = 0; row < n_rows; ++row) {
    for (int64_t pair = row * n_used; pair < (row + 1) * n_used; ++pair) {
      const int32_t place = arrays.next[ids[pair]]++;
      arrays.source[place] = static_cast<int32_t>(row);
      arrays.sorted[pair] = place;
    }
  }
  return view_of(arrays);
}

ExpertOrder read_expert_order(const std::byte* memory, int64_t n_rows, int64_t n_used, int64_t n_expert) {
  // The view is read-only again.
  return view_of(arrays_in(const_cast<std::byte*>(memory), n_rows, n_used, n_expert));
}

}  // namespace quire::graph

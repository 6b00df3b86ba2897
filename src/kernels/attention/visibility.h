// Which positions a query sees, and how the rows of a block share a chunk.
//
// A query at position p sees the keys [max(0, p - window + 1), p]. Rows are ordered by position, so both ends
// of what they see ascend with the row; everything here rests on that.
#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace quire::kernels::QUIRE_ISA {

// Half open: [begin, end).
struct Interval {
  int32_t begin, end;
};

static inline int32_t min_int(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t max_int(int32_t a, int32_t b) { return a > b ? a : b; }

// Key positions that a query at `position` sees; window 0 = all up to its own.
static inline Interval visible_positions(int32_t position, int32_t window) {
  const int32_t begin = window > 0 ? max_int(0, position - window + 1) : 0;
  return {begin, position + 1};
}

// The part of `seen` in chunk number `chunk`, counted from the chunk's first position; empty when end <=
// begin.
static inline Interval within_chunk(Interval seen, int32_t chunk) {
  const int32_t base = chunk * kChunkTokens;
  return {max_int(seen.begin - base, 0), min_int(seen.end - base, kChunkTokens)};
}

static inline bool contains(Interval seen, int32_t position) {
  return position >= seen.begin && position < seen.end;
}

static inline bool is_empty(Interval seen) { return seen.end <= seen.begin; }

static inline bool is_whole_chunk(Interval seen) { return seen.begin == 0 && seen.end == kChunkTokens; }

// What rows see together: `shared` all of them, `before` and `after` only some.
struct SharedSight {
  Interval before, shared, after;
};

static inline SharedSight shared_sight(const Interval* seen, int32_t n_rows) {
  const Interval first = seen[0], last = seen[n_rows - 1];
  const int32_t shared_end =
      max_int(last.begin, first.end);  // none is shared: `after` starts where last does
  return {{first.begin, last.begin}, {last.begin, shared_end}, {shared_end, last.end}};
}

}  // namespace quire::kernels::QUIRE_ISA

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

// A stretch of positions that the same rows [row_begin, row_end) see, all of it.
struct Segment {
  Interval positions;
  int32_t row_begin, row_end;
};

// The segment that starts at `position`, for n_rows rows that see seen[row] of this chunk. Position lies
// between seen[0].begin and seen[n_rows - 1].end.
static inline Segment segment_at(int32_t position, const Interval* seen, int32_t n_rows) {
  int32_t first = 0;
  while (seen[first].end <= position) ++first;
  int32_t last = first;
  while (last < n_rows && seen[last].begin <= position) ++last;
  int32_t end = seen[first].end;
  if (last < n_rows) end = min_int(end, seen[last].begin);
  return {{position, end}, first, last};
}

}  // namespace quire::kernels::QUIRE_ISA

// One chunk of kChunkTokens positions against a block of up to kBlockRows rows: weigh_chunk gives each row's
// max, sum and weights, sum_chunk the weighted values, merged into the running ones or by themselves.
//
// A chunk's result depends on the chunk and the row only, so chunks of one sequence may be computed by
// different threads, in any order, and merged afterwards (merge.h). Accumulators live in registers: rows x
// columns of F32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/kv_storage.h"
#include "kernels/attention/score.h"
#include "kernels/attention/visibility.h"
#include "kernels/vec/math.h"
#include "kernels/vec/opaque.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

inline constexpr size_t kCacheLine = 64;
inline constexpr int kBlockRows =
    kNoRegister ? 1 : 6;  // at most 8: merge.h puts two values per row into one vector
inline constexpr int kAccumulators =
    kOneRegister ? 24 : 6;  // F32 sums a tile keeps in registers, beside operands

// Largest power of two <= limit that leaves n_rows x columns within the accumulators.
static constexpr int columns_for(int n_rows, int limit) {
  int columns = limit;
  while (columns > 1 && columns * n_rows > kAccumulators) columns /= 2;
  return columns;
}

// The pages of one chunk for one KV head. Pages in which no row sees a position are null and not read.
struct ChunkPages {
  const std::byte* k[kPagesPerChunk];  // [d_k, kPageTokens]
  const std::byte* v[kPagesPerChunk];  // [kPageTokens, d_v]
};

struct ChunkInput {
  ChunkPages pages;
  ChunkPages ahead;  // what will be read next, to be fetched meanwhile into the second-level cache (a chunk
                     // fills the first): any readable memory; null only beside a page that is null
  const float* q;    // [n_rows, ld_q], already scaled
  int64_t ld_q;
  int32_t n_rows;        // 1 .. kBlockRows
  const Interval* seen;  // [n_rows] within the chunk, none empty
  int32_t d_k, d_v;
  float softcap;  // 0 = none
};

// Scores of a block of rows against the chunk, turned into weights. The buffer belongs to the caller.
struct ChunkWeights {
  float max[kBlockRows];
  float sum[kBlockRows];
  float* weights;  // [kBlockRows, kChunkTokens] exp(score - max)
};

// Where the weighted sums of values go. A block whose rows see the same positions never leaves the registers:
// running = running * keep + sum * take, or partial = sum.
struct ChunkOutput {
  float* partial;     // [kBlockRows, ld_out] the chunk's own sums, or room for them
  float* running;     // [rows of the block, ld_out] or null: leave the sums in `partial`
  const float* keep;  // [rows of the block]
  const float* take;
  int64_t ld_out;  // a multiple of kLanes
};

// kRows x kColumns pages of scores; d ascending. Not inlined (as value_tile), so that each gets its own
// registers.
template <typename Storage, int kRows, int kColumns>
[[gnu::noinline]] static void score_tile(const std::byte* const* pages, const std::byte* const* ahead,
                                         const float* q, int64_t ld_q, int32_t d_k, float* scores) {
  F32 sum[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) sum[r][c] = zero();
  }
  // Pointers the compiler cannot derive from each other: it would spend additions on the multiply-adds'
  // ports.
  const float* q_row[kRows];
  for (int r = 0; r < kRows; ++r) q_row[r] = opaque_pointer(q + r * ld_q);
  for (int32_t d = 0; d < d_k; ++d) {
    F32 k[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      const size_t at = static_cast<size_t>(d) * kPageTokens * Storage::kBytes;
      k[c] = Storage::load16(pages[c] + at);
      if (at % kCacheLine == 0) prefetch_far(ahead[c] + at);
    }
    for (int r = 0; r < kRows; ++r) {
      const F32 q_rd = set1(q_row[r][d]);
      for (int c = 0; c < kColumns; ++c) sum[r][c] = mul_add(q_rd, k[c], sum[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) store(scores + r * kChunkTokens + c * kPageTokens, sum[r][c]);
  }
}

// Scores of the pages [page_begin, page_end) of the chunk.
template <typename Storage, int kRows>
static void score_rows(const ChunkInput& in, int page_begin, int page_end, float* scores) {
  constexpr int kMost = columns_for(kRows, kPagesPerChunk);
  const auto tiles_of = [&]<int kColumns>(int& page) {
    for (; page + kColumns <= page_end; page += kColumns) {
      score_tile<Storage, kRows, kColumns>(in.pages.k + page, in.ahead.k + page, in.q, in.ld_q, in.d_k,
                                           scores + page * kPageTokens);
    }
  };
  int page = page_begin;
  if constexpr (kMost >= 4) tiles_of.template operator()<4>(page);
  if constexpr (kMost >= 2) tiles_of.template operator()<2>(page);
  tiles_of.template operator()<1>(page);
}

enum class SumStart { kZero, kPartial };
enum class SumEnd { kPartial, kMerge };

struct ValueTile {
  const std::byte* const* pages;  // V of the chunk
  const std::byte* const* ahead;
  size_t row_bytes;      // from one position to the next inside a page
  size_t column_offset;  // bytes from the row's start to the tile's first column
  int tail_lanes;        // columns of the last, partial vector; 0 = whole vectors
  Interval positions;
  const float* weights;  // [kRows, kChunkTokens]
  ChunkOutput out;       // at the tile's first row and column
  SumStart start;
  SumEnd end;
};

enum class Columns { kWhole, kTail };

// Every loop over a tile's sums is unrolled: one that is not keeps the sums in memory.
//
// Weights * V over the tile's positions, ascending; kRows x kColumns vectors.
template <typename Storage, int kRows, int kColumns, Columns kKind>
[[gnu::noinline]] static void value_tile(const ValueTile& tile) {
  const ChunkOutput& out = tile.out;
  F32 sum[kRows][kColumns];
  QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
    QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] = zero();
  }
  if (tile.start == SumStart::kPartial) {
    QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
      QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] =
          load(out.partial + r * out.ld_out + c * kLanes);
    }
  }
  int32_t position = tile.positions.begin;
  while (position < tile.positions.end) {
    const int32_t page = position / kPageTokens;
    const int32_t stop = min_int(tile.positions.end, (page + 1) * kPageTokens);
    const std::byte* values =
        tile.pages[page] + static_cast<size_t>(position % kPageTokens) * tile.row_bytes + tile.column_offset;
    const std::byte* ahead = tile.ahead[page] + (values - tile.pages[page]);
    for (; position < stop; ++position, values += tile.row_bytes, ahead += tile.row_bytes) {
      QUIRE_UNROLL for (size_t c = 0; c < kColumns; c += kCacheLine / (kLanes * Storage::kBytes)) {
        prefetch_far(ahead + c * kLanes * Storage::kBytes);
      }
      F32 v[kColumns];
      QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
        if constexpr (kKind == Columns::kWhole) {
          v[c] = Storage::load16(values + static_cast<size_t>(c) * kLanes * Storage::kBytes);
        } else {
          v[c] = Storage::load_first(values, tile.tail_lanes);
        }
      }
      QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
        const F32 weight = set1(tile.weights[r * kChunkTokens + position]);
        QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] = mul_add(weight, v[c], sum[r][c]);
      }
    }
  }
  if (tile.end == SumEnd::kPartial) {
    QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
      QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
        store(out.partial + r * out.ld_out + c * kLanes, sum[r][c]);
      }
    }
    return;
  }
  QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
    const F32 keep = set1(out.keep[r]);
    const F32 take = set1(out.take[r]);
    QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
      float* running = out.running + r * out.ld_out + c * kLanes;
      store(running, mul_add(load(running), keep, mul(sum[r][c], take)));
    }
  }
}

// All d_v columns of kRows rows over the positions of one segment.
template <typename Storage, int kRows>
static void value_rows(ValueTile tile, int32_t d_v) {
  constexpr int kMost = columns_for(kRows, kRows <= 2 ? 8 : 4);
  const ChunkOutput out = tile.out;
  const int32_t n_whole = d_v / kLanes;
  int32_t column = 0;
  const auto at = [&](int32_t vector) {
    tile.out.partial = out.partial + vector * kLanes;
    tile.out.running = out.running + vector * kLanes;
    tile.column_offset = static_cast<size_t>(vector) * kLanes * Storage::kBytes;
  };
  const auto tiles_of = [&]<int kColumns>() {
    for (; column + kColumns <= n_whole; column += kColumns) {
      at(column);
      value_tile<Storage, kRows, kColumns, Columns::kWhole>(tile);
    }
  };
  if constexpr (kMost >= 8) tiles_of.template operator()<8>();
  if constexpr (kMost >= 4) tiles_of.template operator()<4>();
  if constexpr (kMost >= 2) tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
  tile.tail_lanes = d_v % kLanes;
  if (tile.tail_lanes != 0) {
    at(n_whole);
    value_tile<Storage, kRows, 1, Columns::kTail>(tile);
  }
}

// Calls fn<n_rows>().
template <typename Fn>
QUIRE_VEC_FN void with_row_count([[maybe_unused]] int32_t n_rows, const Fn& fn) {
  if constexpr (kBlockRows == 1) {
    fn.template operator()<1>();
  } else {
    switch (n_rows) {
      case 1:
        return fn.template operator()<1>();
      case 2:
        return fn.template operator()<2>();
      case 3:
        return fn.template operator()<3>();
      case 4:
        return fn.template operator()<4>();
      case 5:
        return fn.template operator()<5>();
      default:
        return fn.template operator()<kBlockRows>();
    }
  }
}

// The lanes of page `page` of the chunk that lie inside `seen`.
QUIRE_VEC_FN Mask seen_lanes(Interval seen, int page) {
  const int32_t base = page * kPageTokens;
  return mask_and(mask_first(seen.end - base), mask_not(mask_first(seen.begin - base)));
}

struct MaxAndSum {
  float max, sum;
};

QUIRE_VEC_FN float max_of_row(const F32* s) { return reduce_max(max(max(s[0], s[1]), max(s[2], s[3]))); }
QUIRE_VEC_FN float sum_of_row(const F32* s) { return reduce_add(add(add(s[0], s[1]), add(s[2], s[3]))); }

// Replaces the scores of a row that sees the whole chunk by exp(score - max).
static MaxAndSum exponentiate_whole_row(float* scores, float softcap) {
  F32 s[kPagesPerChunk];
  for (int page = 0; page < kPagesPerChunk; ++page)
    s[page] = capped(load(scores + page * kPageTokens), softcap);
  const float max_score = max_of_row(s);
  const F32 shift = set1(exp_shift(max_score));
  for (int page = 0; page < kPagesPerChunk; ++page) {
    s[page] = exp(sub(s[page], shift));
    store(scores + page * kPageTokens, s[page]);
  }
  return {max_score, sum_of_row(s)};
}

// The same for a row that sees a part: 0 where it does not see; pages without a visible position are neither
// read nor written. Gives the bits of exponentiate_whole_row where both apply.
static MaxAndSum exponentiate_part_row(float* scores, Interval seen, float softcap) {
  const F32 hidden = set1(-__builtin_inff());
  F32 s[kPagesPerChunk] = {hidden, hidden, hidden, hidden};
  const int first_page = seen.begin / kPageTokens;
  const int end_page = (seen.end - 1) / kPageTokens + 1;
  for (int page = first_page; page < end_page; ++page) {
    s[page] = select(seen_lanes(seen, page), capped(load(scores + page * kPageTokens), softcap), hidden);
  }
  const float max_score = max_of_row(s);
  const F32 shift = set1(exp_shift(max_score));
  F32 weights[kPagesPerChunk] = {zero(), zero(), zero(), zero()};
  for (int page = first_page; page < end_page; ++page) {
    weights[page] = select(seen_lanes(seen, page), exp(sub(s[page], shift)), zero());
    store(scores + page * kPageTokens, weights[page]);
  }
  return {max_score, sum_of_row(weights)};
}

static MaxAndSum exponentiate_row(float* scores, Interval seen, float softcap) {
  const bool whole = seen.begin == 0 && seen.end == kChunkTokens;
  return whole ? exponentiate_whole_row(scores, softcap) : exponentiate_part_row(scores, seen, softcap);
}

// running = running * keep + part * take, n values.
static void merge_row(float* running, const float* part, int64_t n, float keep, float take) {
  for (int64_t c = 0; c < n; c += kLanes) {
    store(running + c, mul_add(load(running + c), set1(keep), mul(load(part + c), set1(take))));
  }
}

// What memory delivers in the time of one row's exponentials.
static constexpr int kLinesPerRow = 8;

// Scores of the block's rows, then their weights.
template <typename Storage>
static void weigh_chunk(const ChunkInput& in, ChunkWeights& chunk) {
  const int32_t begin = in.seen[0].begin;
  const int32_t end = in.seen[in.n_rows - 1].end;
  with_row_count(in.n_rows, [&]<int kRows>() {
    score_rows<Storage, kRows>(in, begin / kPageTokens, (end - 1) / kPageTokens + 1, chunk.weights);
  });
  for (int32_t r = 0; r < in.n_rows; ++r) {
    // Exponentials read nothing: memory works on what comes next meanwhile.
    const std::byte* ahead = in.ahead.v[r % kPagesPerChunk];
    for (int line = 0; ahead != nullptr && line < kLinesPerRow; ++line) {
      prefetch_far(ahead + static_cast<size_t>(line) * kCacheLine);
    }
    const MaxAndSum row = exponentiate_row(chunk.weights + r * kChunkTokens, in.seen[r], in.softcap);
    chunk.max[r] = row.max;
    chunk.sum[r] = row.sum;
  }
}

// Weighted sums of the values the block's rows see.
template <typename Storage>
static void sum_chunk(const ChunkInput& in, const ChunkWeights& chunk, const ChunkOutput& out) {
  const int32_t begin = in.seen[0].begin;
  const int32_t end = in.seen[in.n_rows - 1].end;
  ValueTile tile = {.pages = in.pages.v,
                    .ahead = in.ahead.v,
                    .row_bytes = static_cast<size_t>(in.d_v) * Storage::kBytes,
                    .column_offset = 0,
                    .tail_lanes = 0,
                    .positions = {begin, end},
                    .weights = chunk.weights,
                    .out = out,
                    .start = SumStart::kZero,
                    .end = SumEnd::kMerge};
  const bool same = in.seen[0].end == end && in.seen[in.n_rows - 1].begin == begin;
  if (same) {
    if (out.running == nullptr) tile.end = SumEnd::kPartial;
    with_row_count(in.n_rows, [&]<int kRows>() { value_rows<Storage, kRows>(tile, in.d_v); });
    return;
  }
  // A position only some rows see must not touch the others (its value may be anything), hence the segments.
  tile.start = SumStart::kPartial;
  tile.end = SumEnd::kPartial;
  for (int32_t r = 0; r < in.n_rows; ++r) {
    for (int64_t c = 0; c < in.d_v; c += kLanes) store(out.partial + r * out.ld_out + c, zero());
  }
  for (int32_t position = begin; position < end;) {
    const Segment segment = segment_at(position, in.seen, in.n_rows);
    tile.positions = segment.positions;
    tile.weights = chunk.weights + segment.row_begin * kChunkTokens;
    tile.out.partial = out.partial + segment.row_begin * out.ld_out;
    with_row_count(segment.row_end - segment.row_begin,
                   [&]<int kRows>() { value_rows<Storage, kRows>(tile, in.d_v); });
    position = segment.positions.end;
  }
  if (out.running == nullptr) return;
  for (int32_t r = 0; r < in.n_rows; ++r) {
    merge_row(out.running + r * out.ld_out, out.partial + r * out.ld_out, in.d_v, out.keep[r], out.take[r]);
  }
}

}  // namespace quire::kernels::QUIRE_ISA

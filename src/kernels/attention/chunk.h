// One chunk of kChunkTokens positions against a block of up to kBlockRows rows: weigh_chunk gives each row's
// max, sum and weights, sum_chunk the weighted values, merged into the running ones or by themselves.
//
// A chunk's result depends on the chunk and the row only, so chunks of one sequence may be computed by
// different threads, in any order, and merged afterwards (merge.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/score_tile.h"
#include "kernels/attention/softmax_rows.h"
#include "kernels/attention/value_tile.h"
#include "kernels/attention/visibility.h"

namespace quire::kernels::QUIRE_ISA {

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

// What memory delivers in the time of one row's exponentials.
static constexpr int kLinesPerRow = 8;

// Exponentials read nothing: memory works on what comes next meanwhile.
static void fetch_first_values(const ChunkPages& ahead, int32_t n_rows) {
  for (int32_t r = 0; r < n_rows; ++r) {
    const std::byte* values = ahead.v[r % kPagesPerChunk];
    for (int line = 0; values != nullptr && line < kLinesPerRow; ++line) {
      prefetch_far(values + static_cast<size_t>(line) * kCacheLine);
    }
  }
}

// Scores of the block's rows as weights [n_rows, kChunkTokens], 0 where a row does not see.
template <typename Storage>
static MaxAndSum weigh_chunk(const ChunkInput& in, float* weights) {
  const int32_t begin = in.seen[0].begin / kPageTokens;
  const int32_t end = (in.seen[in.n_rows - 1].end - 1) / kPageTokens + 1;
  const ScoreInput keys = {
      .pages = in.pages.k, .ahead = in.ahead.k, .q = in.q, .ld_q = in.ld_q, .d_k = in.d_k};
  MaxAndSum result = {};
  with_row_count(in.n_rows, [&]<int kRows>() {
    score_rows<Storage, kRows>(keys, begin, end, weights);
    if (Storage::kFetchAhead) fetch_first_values(in.ahead, kRows);
    result = softmax_rows<kRows>(weights, in.seen, in.softcap);
  });
  return result;
}

// Weighted sums of the values the block's rows see.
template <typename Storage>
static void sum_chunk(const ChunkInput& in, const float* weights, const ValueOutput& to) {
  const ValueInput values = {.pages = in.pages.v,
                             .ahead = in.ahead.v,
                             .d_v = in.d_v,
                             .sight = shared_sight(in.seen, in.n_rows),
                             .seen = in.seen,
                             .weights = weights};
  with_row_count(in.n_rows, [&]<int kRows>() { value_rows<Storage, kRows>(values, to); });
}

}  // namespace quire::kernels::QUIRE_ISA

// Scores of a block of rows become weights, exp(score - max), with each row's max and sum.
//
// Rows go side by side wherever one would wait for its own last step: maxima first, then exponentials.
#pragma once

#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/row_lanes.h"
#include "kernels/attention/score.h"
#include "kernels/attention/visibility.h"
#include "kernels/vec/math.h"
#include "kernels/vec/unroll.h"

namespace quire::kernels::QUIRE_ISA {

// Lane r belongs to row r of the block.
struct MaxAndSum {
  F32 max, sum;
};

// The lanes of page `page` of the chunk that lie inside `seen`.
QUIRE_VEC_FN Mask seen_lanes(Interval seen, int page) {
  const int32_t base = page * kPageTokens;
  return mask_and(mask_first(seen.end - base), mask_not(mask_first(seen.begin - base)));
}

static void cap_row(float* scores, float softcap) {
  for (int i = 0; i < kChunkTokens; i += kLanes) store(scores + i, capped(load(scores + i), softcap));
}

// -Inf where the row does not see, so that the weight is +0; what the scores were there does not matter.
static void hide_unseen(float* scores, Interval seen) {
  const F32 hidden = set1(-__builtin_inff());
  for (int page = 0; page < kPagesPerChunk; ++page) {
    float* at = scores + page * kPageTokens;
    store(at, select(seen_lanes(seen, page), load(at), hidden));
  }
}

// scores: [kRows, kChunkTokens].
template <int kRows>
static MaxAndSum softmax_rows(float* scores, const Interval* seen, float softcap) {
  const auto at = [&](int r, int page) { return scores + r * kChunkTokens + page * kPageTokens; };
  F32 largest[kRows];
  for (int r = 0; r < kRows; ++r) {
    if (softcap > 0) cap_row(at(r, 0), softcap);
    if (!is_whole_chunk(seen[r])) hide_unseen(at(r, 0), seen[r]);
    largest[r] = max(max(load(at(r, 0)), load(at(r, 1))), max(load(at(r, 2)), load(at(r, 3))));
  }
  const F32 max_score = max_of_rows(largest);
  alignas(64) float shift[kLanes];
  store(shift, exp_shift(max_score));
  F32 total[kRows];
  for (int r = 0; r < kRows; ++r) {
    F32 weight[kPagesPerChunk];
    QUIRE_UNROLL for (int page = 0; page < kPagesPerChunk; ++page) {
      weight[page] = sub(load(at(r, page)), set1(shift[r]));
    }
    exp_each(weight);
    QUIRE_UNROLL for (int page = 0; page < kPagesPerChunk; ++page) store(at(r, page), weight[page]);
    total[r] = add(add(weight[0], weight[1]), add(weight[2], weight[3]));
  }
  return {max_score, sum_of_rows(total)};
}

}  // namespace quire::kernels::QUIRE_ISA

// One chunk of kChunkTokens latent rows against the heads of one query token.
//
// Every head reads the same row, so lanes are heads: a stored number is a scalar that meets all of them, both
// as a part of the key (scores, [position, head]) and as a part of the value (sums, [dimension, head]). The
// order of additions is that of chunk.h, lane by lane. Memory belongs to the caller.
#pragma once

#include <cstdint>

#include "kernels/attention/score.h"
#include "kernels/attention/visibility.h"
#include "kernels/vec/math.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// Vectors of heads that share every number read, and numbers that share every vector: their product is in
// registers.
inline constexpr int kHeadVectors = kOneRegister ? 2 : 1;
inline constexpr int kTileScalars = kOneRegister ? 8 : kNoRegister ? 1 : 4;
static_assert(kPageTokens % kTileScalars == 0);

// The rows of a chunk as f32, page by page: [kPageTokens, d_k]. Pages in which no query sees a position are
// null and not read.
struct LatentPages {
  const float* page[kPagesPerChunk];
  int32_t d_k, d_v;
};

// What a chunk adds to a query token, lanes being heads; n_heads is kVectors * kLanes.
struct LatentWeights {
  float* weights;  // [kChunkTokens, n_heads]: scores, then exp(score - max); 0 where not seen
  F32 max[kHeadVectors];
  F32 sum[kHeadVectors];
};

// Scores of kTileScalars positions, d in [d_begin, d_end); they go on from what `scores` holds unless d_begin
// is 0.
template <int kVectors>
[[gnu::noinline]] static void latent_score_tile(const float* rows, int32_t d_k, const float* q,
                                                int32_t d_begin, int32_t d_end, float* scores) {
  constexpr int kHeads = kVectors * kLanes;
  F32 sum[kTileScalars][kVectors];
  QUIRE_UNROLL for (int p = 0; p < kTileScalars; ++p) {
    QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) {
      sum[p][v] = d_begin == 0 ? zero() : load(scores + p * kHeads + v * kLanes);
    }
  }
  for (int32_t d = d_begin; d < d_end; ++d) {
    F32 q_d[kVectors];
    QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) q_d[v] = load(q + int64_t{d} * kHeads + v * kLanes);
    QUIRE_UNROLL for (int p = 0; p < kTileScalars; ++p) {
      const F32 k = set1(rows[int64_t{p} * d_k + d]);
      QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) sum[p][v] = mul_add(q_d[v], k, sum[p][v]);
    }
  }
  QUIRE_UNROLL for (int p = 0; p < kTileScalars; ++p) {
    QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) store(scores + p * kHeads + v * kLanes, sum[p][v]);
  }
}

// Scores of all positions in the pages of `seen`. q is [d_k, heads], already scaled.
template <int kVectors>
static void latent_scores(const LatentPages& in, Interval seen, const float* q, float* scores) {
  // A stretch of dimensions of q and of the chunk's rows stays in the nearest cache.
  constexpr int32_t kStretch = 96;
  const int32_t begin = seen.begin / kPageTokens * kPageTokens;
  for (int32_t d = 0; d < in.d_k; d += kStretch) {
    for (int32_t position = begin; position < seen.end; position += kTileScalars) {
      const float* rows = in.page[position / kPageTokens] + int64_t{position % kPageTokens} * in.d_k;
      latent_score_tile<kVectors>(rows, in.d_k, q, d, min_int(in.d_k, d + kStretch),
                                  scores + position * kVectors * kLanes);
    }
  }
}

// Sum over the chunk of each lane: pages first, then the positions of a page by halves.
template <int kVectors>
static F32 latent_sum(const float* weights) {
  constexpr int kHeads = kVectors * kLanes;
  F32 sum[kPageTokens];
  for (int i = 0; i < kPageTokens; ++i) {
    const auto at = [&](int page) { return load(weights + (page * kPageTokens + i) * kHeads); };
    sum[i] = add(add(at(0), at(1)), add(at(2), at(3)));
  }
  for (int half = kPageTokens / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sum[i] = add(sum[i], sum[i + half]);
  }
  return sum[0];
}

// Scores, then weights of the positions `seen`.
template <int kVectors>
static void weigh_latent(const LatentPages& in, Interval seen, const float* q, float softcap,
                         LatentWeights& chunk) {
  constexpr int kHeads = kVectors * kLanes;
  latent_scores<kVectors>(in, seen, q, chunk.weights);
  for (int v = 0; v < kVectors; ++v) {
    float* lanes = chunk.weights + v * kLanes;
    F32 max_score = set1(-__builtin_inff());
    for (int32_t p = seen.begin; p < seen.end; ++p) {
      const F32 score = capped(load(lanes + p * kHeads), softcap);
      store(lanes + p * kHeads, score);
      max_score = max(max_score, score);
    }
    const F32 shift = exp_shift(max_score);
    for (int32_t p = 0; p < kChunkTokens; ++p) {
      const bool hidden = p < seen.begin || p >= seen.end;
      store(lanes + p * kHeads, hidden ? zero() : exp(sub(load(lanes + p * kHeads), shift)));
    }
    chunk.max[v] = max_score;
    chunk.sum[v] = latent_sum<kVectors>(lanes);
  }
}

// Where the weighted sums of values go: running = running * keep + sum * take, or alone to `out`.
template <int kVectors>
struct LatentOutput {
  float* out;  // [d_v, heads]
  bool merge;
  F32 keep[kVectors];
  F32 take[kVectors];
};

// Dimensions [d, d + kScalars) of the weighted sums over the positions `seen`, ascending.
template <int kVectors, int kScalars>
[[gnu::noinline]] static void latent_value_tile(const LatentPages& in, Interval seen, const float* weights,
                                                int32_t d, const LatentOutput<kVectors>& to) {
  constexpr int kHeads = kVectors * kLanes;
  F32 sum[kScalars][kVectors];
  QUIRE_UNROLL for (int i = 0; i < kScalars; ++i) {
    QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = zero();
  }
  for (int32_t position = seen.begin; position < seen.end;) {
    const int32_t page = position / kPageTokens;
    const int32_t stop = min_int(seen.end, (page + 1) * kPageTokens);
    const float* row = in.page[page] + int64_t{position % kPageTokens} * in.d_k + d;
    for (; position < stop; ++position, row += in.d_k) {
      F32 weight[kVectors];
      QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) {
        weight[v] = load(weights + position * kHeads + v * kLanes);
      }
      QUIRE_UNROLL for (int i = 0; i < kScalars; ++i) {
        const F32 value = set1(row[i]);
        QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = mul_add(weight[v], value, sum[i][v]);
      }
    }
  }
  QUIRE_UNROLL for (int i = 0; i < kScalars; ++i) {
    QUIRE_UNROLL for (int v = 0; v < kVectors; ++v) {
      float* out = to.out + int64_t{d + i} * kHeads + v * kLanes;
      store(out, to.merge ? mul_add(load(out), to.keep[v], mul(sum[i][v], to.take[v])) : sum[i][v]);
    }
  }
}

template <int kVectors>
static void sum_latent(const LatentPages& in, Interval seen, const float* weights,
                       const LatentOutput<kVectors>& to) {
  int32_t d = 0;
  for (; d + kTileScalars <= in.d_v; d += kTileScalars) {
    latent_value_tile<kVectors, kTileScalars>(in, seen, weights, d, to);
  }
  for (; d < in.d_v; ++d) latent_value_tile<kVectors, 1>(in, seen, weights, d, to);
}

}  // namespace quire::kernels::QUIRE_ISA

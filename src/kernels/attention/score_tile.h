// Scores of a block of rows against the pages of a chunk: a register tile of rows x pages, d ascending.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/kv_storage.h"
#include "kernels/vec/opaque.h"

namespace quire::kernels::QUIRE_ISA {

// The keys of a chunk for one KV head and the queries of a block.
struct ScoreInput {
  const std::byte* const* pages;  // K of the chunk, [d_k, kPageTokens] each
  const std::byte* const* ahead;  // what to fetch meanwhile, page by page
  const float* q;                 // [rows, ld_q], already scaled
  int64_t ld_q;
  int32_t d_k;
};

// kRows x kColumns pages from `page` on. Not inlined, so that each tile gets its own registers.
template <typename Storage, int kRows, int kColumns>
[[gnu::noinline]] static void score_tile(const ScoreInput& in, int page, float* scores) {
  F32 sum[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) sum[r][c] = zero();
  }
  // Pointers the compiler cannot derive from each other: it would spend additions on the multiply-adds'
  // ports.
  const float* q[kRows];
  for (int r = 0; r < kRows; ++r) q[r] = opaque_pointer(in.q + r * in.ld_q);
  for (int32_t d = 0; d < in.d_k; ++d) {
    F32 k[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      const size_t at = static_cast<size_t>(d) * kPageTokens * Storage::kBytes;
      k[c] = Storage::load16(in.pages[page + c] + at);
      if (Storage::kFetchAhead && at % kCacheLine == 0) prefetch_far(in.ahead[page + c] + at);
    }
    for (int r = 0; r < kRows; ++r) {
      const F32 q_rd = set1(q[r][d]);
      for (int c = 0; c < kColumns; ++c) sum[r][c] = mul_add(q_rd, k[c], sum[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) store(scores + r * kChunkTokens + (page + c) * kPageTokens, sum[r][c]);
  }
}

// Scores [kRows, kChunkTokens] of the pages [page, page_end) of the chunk.
template <typename Storage, int kRows>
static void score_rows(const ScoreInput& in, int page, int page_end, float* scores) {
  constexpr int kMost = columns_for(kRows, kPagesPerChunk);
  const auto tiles_of = [&]<int kColumns>() {
    for (; page + kColumns <= page_end; page += kColumns) {
      score_tile<Storage, kRows, kColumns>(in, page, scores);
    }
  };
  if constexpr (kMost >= 4) tiles_of.template operator()<4>();
  if constexpr (kMost >= 2) tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
}

}  // namespace quire::kernels::QUIRE_ISA

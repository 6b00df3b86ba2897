// Weighted sums of a chunk's values for a block of rows: a register tile of rows x columns, positions
// ascending. What is done never leaves the registers before it is merged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/block.h"
#include "kernels/attention/kv_storage.h"
#include "kernels/attention/visibility.h"
#include "kernels/vec/unroll.h"

namespace quire::kernels::QUIRE_ISA {

// What the running results and a chunk's are multiplied with when they meet; number r belongs to row r.
struct MergeFactors {
  alignas(64) float keep[kLanes];
  alignas(64) float take[kLanes];
};

// Where the sums go: out = out * keep + sum * take, or out = sum.
struct ValueOutput {
  float* out;  // [rows of the block, ld_out]
  int64_t ld_out;
  const MergeFactors* merge;  // null: out = sum
};

struct ValueInput {
  const std::byte* const* pages;  // V of the chunk, [kPageTokens, d_v] each
  const std::byte* const* ahead;  // what to fetch meanwhile, page by page
  int32_t d_v;
  SharedSight sight;
  const Interval* seen;  // [rows]
  const float* weights;  // [rows, kChunkTokens]
};

enum class Columns { kWhole, kTail };
enum class Sight { kAllRows, kSomeRows };

// Every loop over a tile's sums is unrolled: one that is not keeps the sums in memory.
//
// Adds `positions`. A row that does not see one is left out, not given a weight of zero: the value may be
// anything.
template <typename Storage, Columns kKind, Sight kSight, int kRows, int kColumns>
QUIRE_VEC_FN void add_values(const ValueInput& in, int32_t column, Interval positions,
                             F32 (&sum)[kRows][kColumns]) {
  const size_t row_bytes = static_cast<size_t>(in.d_v) * Storage::kBytes;
  int32_t position = positions.begin;
  while (position < positions.end) {
    const int32_t page = position / kPageTokens;
    const int32_t stop = min_int(positions.end, (page + 1) * kPageTokens);
    const size_t first = static_cast<size_t>(position % kPageTokens) * row_bytes +
                         static_cast<size_t>(column) * Storage::kBytes;
    const std::byte* values = in.pages[page] + first;
    const std::byte* ahead = in.ahead[page] + first;
    for (; position < stop; ++position, values += row_bytes, ahead += row_bytes) {
      if constexpr (Storage::kFetchAhead) {
        QUIRE_UNROLL for (size_t c = 0; c < kColumns; c += kCacheLine / (kLanes * Storage::kBytes)) {
          prefetch_far(ahead + c * kLanes * Storage::kBytes);
        }
      }
      F32 v[kColumns];
      QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
        if constexpr (kKind == Columns::kWhole) {
          v[c] = Storage::load16(values + static_cast<size_t>(c) * kLanes * Storage::kBytes);
        } else {
          v[c] = Storage::load_first(values, in.d_v - column);
        }
      }
      QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
        const F32 weight = set1(in.weights[r * kChunkTokens + position]);
        const Mask sees = mask_from_bits(contains(in.seen[r], position) ? 0xffffu : 0);
        QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
          const F32 more = mul_add(weight, v[c], sum[r][c]);
          sum[r][c] = kSight == Sight::kAllRows ? more : select(sees, more, sum[r][c]);
        }
      }
    }
  }
}

// kRows x kColumns vectors from `column` on.
template <typename Storage, int kRows, int kColumns, Columns kKind>
[[gnu::noinline]] static void value_tile(const ValueInput& in, int32_t column, const ValueOutput& to) {
  F32 sum[kRows][kColumns];
  QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
    QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] = zero();
  }
  add_values<Storage, kKind, Sight::kSomeRows>(in, column, in.sight.before, sum);
  add_values<Storage, kKind, Sight::kAllRows>(in, column, in.sight.shared, sum);
  add_values<Storage, kKind, Sight::kSomeRows>(in, column, in.sight.after, sum);
  QUIRE_UNROLL for (int r = 0; r < kRows; ++r) {
    float* out = to.out + r * to.ld_out + column;
    if (to.merge == nullptr) {
      QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) store(out + c * kLanes, sum[r][c]);
      continue;
    }
    const F32 keep = set1(to.merge->keep[r]);
    const F32 take = set1(to.merge->take[r]);
    QUIRE_UNROLL for (int c = 0; c < kColumns; ++c) {
      float* at = out + c * kLanes;
      store(at, mul_add(load(at), keep, mul(sum[r][c], take)));
    }
  }
}

// All d_v columns of kRows rows.
template <typename Storage, int kRows>
static void value_rows(const ValueInput& in, const ValueOutput& to) {
  constexpr int kMost = columns_for(kRows, kRows <= 2 ? 8 : 4);
  int32_t column = 0;
  const auto tiles_of = [&]<int kColumns>() {
    for (; column + kColumns * kLanes <= in.d_v; column += kColumns * kLanes) {
      value_tile<Storage, kRows, kColumns, Columns::kWhole>(in, column, to);
    }
  };
  if constexpr (kMost >= 8) tiles_of.template operator()<8>();
  if constexpr (kMost >= 4) tiles_of.template operator()<4>();
  if constexpr (kMost >= 2) tiles_of.template operator()<2>();
  tiles_of.template operator()<1>();
  if (column < in.d_v) value_tile<Storage, kRows, 1, Columns::kTail>(in, column, to);
}

}  // namespace quire::kernels::QUIRE_ISA

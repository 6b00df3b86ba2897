// Merging chunk results into a row's running (max, sum, out), ascending, and finishing the row.
//
// State starts as (-Inf, 0, 0); the first merge then takes the chunk over unchanged (exp(-Inf) = 0, exp(0) =
// 1).
#pragma once

#include <cstdint>

#include "kernels/attention/chunk.h"

namespace quire::kernels::QUIRE_ISA {

// Running results of the rows of a tile. Memory belongs to the caller.
struct RunningRows {
  float* max;      // [n_rows]
  float* sum;      // [n_rows]
  float* out;      // [n_rows, ld_out]
  int64_t ld_out;  // a multiple of kLanes
};

static void start_rows(const RunningRows& state, int32_t n_rows) {
  for (int32_t r = 0; r < n_rows; ++r) {
    state.max[r] = -__builtin_inff();
    state.sum[r] = 0;
    for (int64_t c = 0; c < state.ld_out; c += kLanes) store(state.out + r * state.ld_out + c, zero());
  }
}

// Merges max and sum of a chunk into rows [row, row + n_rows); the caller does the same with out:
//   m = max(a.max, b.max); sum = a.sum * exp(a.max - m) + b.sum * exp(b.max - m), out alike, each as
//   mul_add(a, exp_a, b * exp_b).
static MergeFactors merge_sums(const RunningRows& state, int32_t row, int32_t n_rows,
                               const MaxAndSum& chunk) {
  const F32 running = load_partial(state.max + row, n_rows);
  const F32 both = max(running, chunk.max);
  const F32 shift = exp_shift(both);
  const F32 keep = exp(sub(running, shift));
  const F32 take = exp(sub(chunk.max, shift));
  const F32 sum = mul_add(load_partial(state.sum + row, n_rows), keep, mul(chunk.sum, take));
  store_partial(state.max + row, both, n_rows);
  store_partial(state.sum + row, sum, n_rows);
  MergeFactors factors;
  store(factors.keep, keep);
  store(factors.take, take);
  return factors;
}

// What chunks leave of a row before they are merged: max and sum in the first vector, then out. Records of a
// row's chunks lie `stride` floats apart.
struct ChunkRecords {
  const float* first;
  int64_t stride;
  int32_t n;
  const float* at(int32_t i) const { return first + i * stride; }
};

static int64_t record_floats(int32_t d_v) { return kLanes + (int64_t{d_v} + kLanes - 1) / kLanes * kLanes; }

// The factors of up to kLanes chunks in turn; number i belongs to chunk i. Only the maxima depend on each
// other; the exponentials of all chunks are taken at once.
static MergeFactors chain_factors(const ChunkRecords& records, float& running) {
  MergeFactors factors = {};
  for (int32_t i = 0; i < records.n; ++i) {
    const float max = records.at(i)[0];
    const float both = running > max ? running : max;
    factors.keep[i] = running - exp_shift(both);
    factors.take[i] = max - exp_shift(both);
    running = both;
  }
  store(factors.keep, exp(load(factors.keep)));
  store(factors.take, exp(load(factors.take)));
  return factors;
}

// Merges up to kLanes chunks into one row, ascending: the bits of merging them one by one.
static void merge_records(const RunningRows& state, int32_t row, const ChunkRecords& records) {
  const MergeFactors factors = chain_factors(records, state.max[row]);
  F32 sum = set1(state.sum[row]);
  for (int32_t i = 0; i < records.n; ++i) {
    sum = mul_add(sum, set1(factors.keep[i]), mul(set1(records.at(i)[1]), set1(factors.take[i])));
  }
  store_partial(state.sum + row, sum, 1);
  constexpr int kColumns = 4;  // chains that hide a multiply-add's latency
  float* out = state.out + row * state.ld_out;
  for (int64_t column = 0; column < state.ld_out; column += kColumns * kLanes) {
    const int64_t left = (state.ld_out - column) / kLanes;
    const int n_columns = left < kColumns ? static_cast<int>(left) : kColumns;
    F32 values[kColumns];
    for (int c = 0; c < n_columns; ++c) values[c] = load(out + column + c * kLanes);
    for (int32_t i = 0; i < records.n; ++i) {
      const float* part = records.at(i) + kLanes + column;
      const F32 keep = set1(factors.keep[i]);
      const F32 take = set1(factors.take[i]);
      for (int c = 0; c < n_columns; ++c) {
        values[c] = mul_add(values[c], keep, mul(load(part + c * kLanes), take));
      }
    }
    for (int c = 0; c < n_columns; ++c) store(out + column + c * kLanes, values[c]);
  }
}

// Adds a sink: one more score that takes part in max and sum and carries no value.
static void merge_sink(const RunningRows& state, int32_t row, float sink) {
  const float both = state.max[row] > sink ? state.max[row] : sink;
  const float shift = exp_shift(both);
  float factors[kLanes] = {state.max[row] - shift, sink - shift};
  store(factors, exp(load(factors)));
  const F32 keep = set1(factors[0]);
  state.max[row] = both;
  store_partial(state.sum + row, mul_add(set1(state.sum[row]), keep, set1(factors[1])), 1);
  float* out = state.out + row * state.ld_out;
  for (int64_t c = 0; c < state.ld_out; c += kLanes) store(out + c, mul(load(out + c), keep));
}

// Writes out / sum, d_v values.
static void write_row(const RunningRows& state, int32_t row, int32_t d_v, float* out) {
  const F32 sum = set1(state.sum[row]);
  const float* values = state.out + row * state.ld_out;
  for (int32_t c = 0; c < d_v; c += kLanes) store_partial(out + c, div(load(values + c), sum), d_v - c);
}

}  // namespace quire::kernels::QUIRE_ISA

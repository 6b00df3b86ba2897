// Recurrences: operations whose answer for a row follows from the rows before it through a state that is kept
// between steps: causal convolutions and the scans of state space models and delta nets.
//
// One layer's states lie in slots, each as large as one sequence needs. A span of rows starts from the state
// in its source slot; after row r the state is in slots[r], where row r + 1 reads it. So a state advances in
// place where neighbouring rows name one slot, and is left behind, whole, where they do not. Slots that a
// later row of the span names again are working places; a span's slots are not touched by other spans, but
// for sources that nobody writes. Memory belongs to the caller.
//
// Work is divided into units of 16 channels, or of 16 columns of one head's state: a unit takes all rows of a
// span in order, while its part of the state is in the nearest cache. Numerics (docs/numerics.md): every row
// does the same operations in the same order, so bits depend neither on how rows are cut into steps, nor on
// batch, threads or ISA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::kernels {

// Kernels are compiled once per ISA: what they share with the rest must leave no out-of-line copy behind.
#define QUIRE_LAYOUT_FN [[gnu::always_inline]] constexpr

inline constexpr int64_t kUnitColumns = 16;
QUIRE_LAYOUT_FN int64_t column_units(int64_t n) { return (n + kUnitColumns - 1) / kUnitColumns; }

// Rows [row_begin, row_end) of the step belong to one sequence and follow each other.
struct StateSpan {
  int32_t row_begin = 0, row_end = 0;
  int32_t source = -1;  // slot of the state before the first row; -1 = zeros
};

// Where the states of one layer are.
struct StateSlots {
  float* states;         // slot s at states + s * stride
  int64_t stride;        // floats
  const int32_t* slots;  // [n_rows] that take the state after each row
};

// y[r, c] = f(bias[c] + sum over j of weight[j, c] * x[r - n_taps + 1 + j, c]); the state is the last
// n_taps - 1 rows of x. y may alias x.
enum class ConvActivation : uint8_t { kNone, kSilu };
inline constexpr int64_t kMaxConvTaps = 8;
struct ConvArgs {
  StateSlots state;
  const float* x;
  int64_t ld_x;  // [n_rows, n_channels]
  float* y;
  int64_t ld_y;
  const float* weight;  // [n_taps, n_channels], the last tap meets the newest row
  const float* bias;    // [n_channels], null = none
  int64_t n_channels;
  int64_t n_taps;  // 1 to kMaxConvTaps
  ConvActivation activation;
};
QUIRE_LAYOUT_FN int64_t conv_units(int64_t n_channels) { return column_units(n_channels); }
QUIRE_LAYOUT_FN int64_t conv_state_floats(int64_t n_channels, int64_t n_taps) {
  return (n_taps - 1) * conv_units(n_channels) * kUnitColumns;
}

// The scan of Mamba 2 (Dao & Gu 2024, arXiv 2405.21060). Head h has a state S [d_state, d_head], of which
// each row of the step makes
//   S = S * exp(a[h] dt[r, h]) + b[r, g] (dt[r, h] x[r, h])^T       y[r, h] = c[r, g] S + d[h] x[r, h]
// with the group g = h * n_group / n_head.
struct ScanArgs {
  StateSlots state;
  const float* x;
  int64_t ld_x;  // [n_rows, n_head, d_head]
  const float* dt;
  int64_t ld_dt;  // [n_rows, n_head]
  const float* b;
  int64_t ld_b;  // [n_rows, n_group, d_state]
  const float* c;
  int64_t ld_c;
  const float* a;  // [n_head]
  const float* d;  // [n_head]
  float* y;        // not aliased
  int64_t ld_y;
  int64_t n_head, d_head, n_group, d_state;
};
QUIRE_LAYOUT_FN int64_t scan_units(int64_t n_head, int64_t d_head) { return n_head * column_units(d_head); }
QUIRE_LAYOUT_FN int64_t scan_state_floats(int64_t n_head, int64_t d_head, int64_t d_state) {
  return scan_units(n_head, d_head) * kUnitColumns * d_state;
}

// The selective scan of Mamba 1 (Gu & Dao 2023, arXiv 2312.00752). Every channel has a state [d_state]:
//   S = S * exp(a[channel] dt[r, channel]) + b[r] (dt x)[r, channel]       y = S c[r] + d[channel] x
struct ChannelScanArgs {
  StateSlots state;
  const float* x;
  int64_t ld_x;  // [n_rows, n_channels]
  const float* dt;
  int64_t ld_dt;  // [n_rows, n_channels]
  const float* b;
  int64_t ld_b;  // [n_rows, d_state]
  const float* c;
  int64_t ld_c;
  const float* a;  // [n_channels, d_state]
  const float* d;  // [n_channels]
  float* y;        // not aliased
  int64_t ld_y;
  int64_t n_channels, d_state;
};
QUIRE_LAYOUT_FN int64_t channel_scan_units(int64_t n_channels) { return column_units(n_channels); }
QUIRE_LAYOUT_FN int64_t channel_scan_state_floats(int64_t n_channels, int64_t d_state) {
  return n_channels * column_units(d_state) * kUnitColumns;
}

// The gated delta rule (Yang, Kautz & Hatamizadeh 2024, arXiv 2412.06464). Head h has a state S [d_k, d_v],
// of which each row makes, with the decay g = exp(a[h] dt[r, h]),
//   delta = beta[r, h] (v[r, h] - g S^T k)       S = g S + k delta^T       y[r, h] = scale S^T q
// where q and k are those of the head's key head: h / (n_head / n_key_head), or h % n_key_head.
enum class KeyHeads : uint8_t { kBlocked, kCyclic };
struct DeltaArgs {
  StateSlots state;
  const float* q;
  int64_t ld_q;  // [n_rows, n_key_head, d_k]
  const float* k;
  int64_t ld_k;
  const float* v;
  int64_t ld_v;  // [n_rows, n_head, d_v]
  const float* beta;
  int64_t ld_beta;  // [n_rows, n_head]
  const float* dt;
  int64_t ld_dt;   // [n_rows, n_head]
  const float* a;  // [n_head]
  float* y;        // not aliased
  int64_t ld_y;
  int64_t n_head, n_key_head, d_k, d_v;
  KeyHeads key_heads;
  float scale;
};
QUIRE_LAYOUT_FN int64_t delta_units(int64_t n_head, int64_t d_v) { return n_head * column_units(d_v); }
QUIRE_LAYOUT_FN int64_t delta_state_floats(int64_t n_head, int64_t d_k, int64_t d_v) {
  return delta_units(n_head, d_v) * kUnitColumns * d_k;
}

// Units [unit_begin, unit_end) of the rows of one span.
template <typename Args>
using StateFn = void (*)(const Args& args, const StateSpan& span, int64_t unit_begin, int64_t unit_end);

// One ISA's implementations; kernel_table.h hands them out.
struct RecurrentOps {
  StateFn<ConvArgs> conv;
  StateFn<ScanArgs> scan;
  StateFn<ChannelScanArgs> channel_scan;
  StateFn<DeltaArgs> delta;
};
#undef QUIRE_LAYOUT_FN

}  // namespace quire::kernels

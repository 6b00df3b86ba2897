// What the sources of this folder export to each other within one ISA, and what they share.
#pragma once

#include "kernels/recurrent.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

StateFn<ConvArgs> conv_op();
StateFn<ScanArgs> scan_op();
StateFn<ChannelScanArgs> channel_scan_op();
StateFn<DeltaArgs> delta_op();

// The `n` floats at `offset` of a state before (`from`) and after (`to`) one row; the two may be the same.
struct StateStep {
  const float* from;
  float* to;
};

// Walks one unit's part of the state, floats [offset, offset + n) of each slot, through the rows of a span:
// calls step(row, StateStep) for each. Zeros that are a source are written to the first row's slot.
template <typename Step>
QUIRE_VEC_FN void for_states(const StateSlots& state, const StateSpan& span, int64_t offset, int64_t n,
                             const Step& step) {
  const auto at = [&](int32_t slot) { return state.states + slot * state.stride + offset; };
  const float* from;
  if (span.source >= 0) {
    from = at(span.source);
  } else {
    float* zeros = at(state.slots[span.row_begin]);
    for (int64_t i = 0; i < n; i += kLanes) store(zeros + i, zero());
    from = zeros;
  }
  for (int32_t row = span.row_begin; row < span.row_end; ++row) {
    float* to = at(state.slots[row]);
    step(row, StateStep{from, to});
    from = to;
  }
}

// A product with a state's rows that does not wait for itself: term i goes to sum i % 4.
struct FourSums {
  F32 sum[4] = {zero(), zero(), zero(), zero()};
  QUIRE_VEC_MEMBER F32 total() const { return add(add(sum[0], sum[1]), add(sum[2], sum[3])); }
};

// Calls step(i, j) for i = 0, 1, ... below n, with j = i % 4 known to the compiler.
template <typename Step>
QUIRE_VEC_FN void for_four(int64_t n, const Step& step) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    step(i, 0);
    step(i + 1, 1);
    step(i + 2, 2);
    step(i + 3, 3);
  }
  for (; i < n; ++i) step(i, static_cast<int>(i % 4));
}

}  // namespace quire::kernels::QUIRE_ISA

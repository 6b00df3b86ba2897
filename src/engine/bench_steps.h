// What a speed test feeds, step by step, as plain data: made before anything is timed, so that the same list
// is counted and run. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op_cost.h"

namespace quire {

enum class SpeedTestKind : uint8_t {
  kPrefill,  // n_tokens of prompt for every sequence
  kDecode,   // n_tokens for every sequence, one at a time
};

struct SpeedTest {
  SpeedTestKind kind = SpeedTestKind::kPrefill;
  int64_t n_tokens = 0;  // of each sequence
  int64_t depth = 0;     // tokens that each sequence holds before
  int32_t batch = 1;     // sequences side by side
};

enum class StepLogits : uint8_t { kNone, kLast };

struct BenchItem {
  int32_t sequence = 0;  // index among the sequences of the test
  graph::SpanShape span;
  StepLogits logits = StepLogits::kNone;
};
using BenchStep = std::vector<BenchItem>;

// Prompts are fed one after the other in steps of max_step_tokens, a step taking from as many as it has room
// for; decoding takes a token of each sequence in every step. max_step_tokens must not be below the batch.
std::vector<BenchStep> bench_steps(const SpeedTest& test, int64_t max_step_tokens);

}  // namespace quire

// StepCost: how long a step takes, and StepClock, which learns it from the steps that were run.
//
// A step of s streams and p prompt tokens takes about fixed + s * per_stream + p * per_prompt_token seconds.
// The three are fitted to recent steps by least squares of the relative errors. Steps of streams only and
// steps with prompts are remembered apart: one counts `kForget` times as much as the next of its kind, and
// fades slowly with those of the other, so that what streams take alone stays known while every step carries
// prompts, whose cost grows with their depth. An unknown that recent steps say nothing about stays as it was.
// Plain values; never allocate. One thread at a time.
//
//   StepClock clock;
//   clock.observe({.n_streams = 8, .n_prompt_tokens = 0, .seconds = 0.02});
//   const StepCost cost = clock.cost();
#pragma once

#include <array>
#include <cstdint>

namespace quire {

// Seconds.
struct StepCost {
  double fixed = 0;
  double per_stream = 0;
  double per_prompt_token = 0;  // 0 = no prompt has been seen
};

struct StepTime {
  int64_t n_streams = 0;
  int64_t n_prompt_tokens = 0;
  double seconds = 0;
};

class StepClock {
 public:
  void observe(const StepTime& step);
  const StepCost& cost() const { return cost_; }

 private:
  static constexpr std::array<double, 2> kForget = {0.95, 0.9};  // streams only, with prompts
  static constexpr double kFade = 0.995;
  using Row = std::array<double, 4>;  // three unknowns and the right side
  using Sums = std::array<Row, 3>;    // normal equations
  std::array<Sums, 2> sums_ = {};     // of streams only, with prompts
  StepCost cost_;
};

}  // namespace quire

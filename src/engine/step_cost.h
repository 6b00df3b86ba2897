// StepCost: how long a step takes, and StepClock, which learns it from the steps that were run.
//
// A step of s streams and p prompt tokens, before which there are q positions in all, takes about
// fixed + s * per_stream + p * per_prompt_token + q * per_position seconds. The four are fitted to recent
// steps by least squares of the relative errors. Steps of streams only and steps with prompts are remembered
// apart: one counts `kForget` times as much as the next of its kind, and fades slowly with those of the
// other, so that what streams take alone stays known while every step carries prompts, whose cost grows with
// their depth. An unknown that recent steps say nothing about stays as it was. Plain values; never allocate.
// One thread at a time.
//
//   StepClock clock;
//   clock.observe({.n_streams = 8, .seconds = 0.02});
//   const StepCost cost = clock.cost();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace quire {

// Seconds.
struct StepCost {
  double fixed = 0;
  double per_stream = 0;
  double per_prompt_token = 0;  // the first of a prompt
  double per_position = 0;      // what a later one takes more, for each position before it

  // Of a prompt token with so many positions before it; 0 = no prompt has been seen.
  double prompt_token(int64_t depth) const {
    return per_prompt_token + per_position * static_cast<double>(depth);
  }
};

struct StepTime {
  int64_t n_streams = 0;
  int64_t n_prompt_tokens = 0;
  int64_t n_prompt_positions = 0;  // before each of them, in sum
  double seconds = 0;
};

class StepClock {
 public:
  void observe(const StepTime& step);
  const StepCost& cost() const { return cost_; }

 private:
  static constexpr std::array<double, 2> kForget = {0.95, 0.9};  // streams only, with prompts
  static constexpr double kFade = 0.995;
  static constexpr size_t kUnknowns = 4;
  using Row = std::array<double, kUnknowns + 1>;  // the last: the right side
  using Sums = std::array<Row, kUnknowns>;        // normal equations
  std::array<Sums, 2> sums_ = {};                 // of streams only, with prompts
  StepCost cost_;
};

}  // namespace quire

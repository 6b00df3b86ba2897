#include "engine/step_cost.h"

#include <algorithm>
#include <cmath>

namespace quire {
namespace {

// Counts are scaled to about one, so that one ridge serves all unknowns. It holds them where they were:
// what prompts cost is remembered through any number of steps without one.
constexpr double kStreams = 16, kPromptTokens = 256, kPositions = 256 * 1024;
constexpr double kRidge = 5e-5;  // of the weight of all steps
constexpr int kSweeps = 64;
constexpr double kSettled = 1e-7;   // of an unknown: what a sweep moves it by when it is found
constexpr double kShortest = 1e-6;  // seconds, so that a step that took none has a weight

}  // namespace

void StepClock::observe(const StepTime& step) {
  // Divided by the time, so that errors count in proportion: a full step of prompts otherwise outweighs
  // hundreds of short ones, whose tokens cost more. Where steps do not tell unknowns apart the first takes
  // all: what prompts cost must not be thought nothing.
  const double seconds = std::max(step.seconds, kShortest);
  const Row seen = {static_cast<double>(step.n_prompt_tokens) / kPromptTokens / seconds, 1.0 / seconds,
                    static_cast<double>(step.n_streams) / kStreams / seconds,
                    static_cast<double>(step.n_prompt_positions) / kPositions / seconds, 1.0};
  const size_t kind = step.n_prompt_tokens > 0 ? 1 : 0;
  Sums m = {};
  for (size_t i = 0; i < kUnknowns; ++i) {
    for (size_t j = 0; j < seen.size(); ++j) {
      double& own = sums_[kind][i][j];
      double& other = sums_[1 - kind][i][j];
      own = kForget[kind] * own + seen[i] * seen[j];
      other *= kFade;
      m[i][j] = own + other;
    }
  }

  std::array<double, kUnknowns> x = {cost_.per_prompt_token * kPromptTokens, cost_.fixed,
                                     cost_.per_stream * kStreams, cost_.per_position * kPositions};
  const double ridge = kRidge * m[1][1];
  for (size_t i = 0; i < kUnknowns; ++i) {
    m[i][i] += ridge;
    m[i][kUnknowns] += ridge * x[i];
  }
  // Best unknowns that are not negative: each in turn given the others. Clamping the free solution instead
  // would leave the others what they were beside a negative one.
  bool settled = false;
  for (int sweep = 0; sweep < kSweeps && !settled; ++sweep) {
    settled = true;
    for (size_t i = 0; i < kUnknowns; ++i) {
      double rest = m[i][kUnknowns];
      for (size_t j = 0; j < kUnknowns; ++j) rest -= j == i ? 0 : m[i][j] * x[j];
      const double better = std::max(0.0, rest / m[i][i]);
      settled = settled && std::abs(better - x[i]) <= kSettled * x[i];
      x[i] = better;
    }
  }
  cost_ = {.fixed = x[1],
           .per_stream = x[2] / kStreams,
           .per_prompt_token = x[0] / kPromptTokens,
           .per_position = x[3] / kPositions};
}

}  // namespace quire

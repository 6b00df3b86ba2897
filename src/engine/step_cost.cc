#include "engine/step_cost.h"

#include <algorithm>
#include <cmath>

namespace quire {
namespace {

// Counts are scaled to about one, so that one ridge serves all three unknowns. It holds them where they were:
// what prompts cost is remembered through any number of steps without one.
constexpr double kStreams = 16, kPromptTokens = 256;
constexpr double kRidge = 1e-3;

}  // namespace

void StepClock::observe(const StepTime& step) {
  const std::array<double, 4> seen = {1.0, static_cast<double>(step.n_streams) / kStreams,
                                      static_cast<double>(step.n_prompt_tokens) / kPromptTokens,
                                      step.seconds};
  const size_t kind = step.n_prompt_tokens > 0 ? 1 : 0;
  Sums m = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      double& own = sums_[kind][i][j];
      double& other = sums_[1 - kind][i][j];
      own = kForget * own + seen[i] * seen[j];
      other *= kFade;
      m[i][j] = own + other;
    }
  }

  const std::array<double, 3> before = {cost_.fixed, cost_.per_stream * kStreams,
                                        cost_.per_prompt_token * kPromptTokens};
  for (size_t i = 0; i < 3; ++i) {
    m[i][i] += kRidge;
    m[i][3] += kRidge * before[i];
  }
  // Gauss without pivoting: with the ridge the matrix is positive definite.
  for (size_t i = 0; i < 3; ++i) {
    for (size_t r = 0; r < 3; ++r) {
      if (r == i) continue;
      const double factor = m[r][i] / m[i][i];
      for (size_t j = i; j < 4; ++j) m[r][j] -= factor * m[i][j];
    }
  }
  const auto solved = [&](size_t i) { return std::max(0.0, m[i][3] / m[i][i]); };
  cost_ = {
      .fixed = solved(0), .per_stream = solved(1) / kStreams, .per_prompt_token = solved(2) / kPromptTokens};
}

}  // namespace quire

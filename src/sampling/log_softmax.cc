#include "sampling/log_softmax.h"

#include <limits>

#include "base/check.h"
#include "sampling/portable_math.h"

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

// Partial maxima and sums: enough for the compiler to use vectors; being a constant, it fixes the order of
// the sum.
constexpr size_t kWays = 8;

float finite(float logit) { return logit < kLargest ? logit : kLargest; }

}  // namespace

float largest_logit(std::span<const float> logits) {
  float partial[kWays];
  for (float& p : partial) p = -kInfinity;
  size_t i = 0;
  // The comparison is false for NaN, which therefore never gets in.
  for (; i + kWays <= logits.size(); i += kWays) {
    for (size_t w = 0; w < kWays; ++w) partial[w] = logits[i + w] > partial[w] ? logits[i + w] : partial[w];
  }
  for (; i < logits.size(); ++i) partial[0] = logits[i] > partial[0] ? logits[i] : partial[0];
  float largest = -kInfinity;
  for (const float p : partial) largest = p > largest ? p : largest;
  return largest;
}

int32_t argmax_logit(std::span<const float> logits) {
  const float largest = largest_logit(logits);
  if (largest == -kInfinity) return -1;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == largest) return static_cast<int32_t>(i);
  }
  return -1;
}

double log_sum_exp(std::span<const float> logits) {
  const double largest = finite(largest_logit(logits));
  QUIRE_CHECK(largest > -static_cast<double>(kInfinity));
  double partial[kWays] = {};
  size_t i = 0;
  for (; i + kWays <= logits.size(); i += kWays) {
    for (size_t w = 0; w < kWays; ++w) {
      const float logit = logits[i + w];
      partial[w] += portable_exp((logit > kLargest ? kLargest : logit) - largest);
    }
  }
  for (; i < logits.size(); ++i) {
    const float logit = logits[i];
    partial[0] += portable_exp((logit > kLargest ? kLargest : logit) - largest);
  }
  double sum = 0.0;
  for (const double p : partial) sum += p;
  return largest + portable_log(sum);
}

float log_probability(std::span<const float> logits, int32_t token) {
  QUIRE_CHECK(token >= 0 && static_cast<size_t>(token) < logits.size());
  const float logit = logits[static_cast<size_t>(token)];
  if (!(logit > -kInfinity)) return -kInfinity;
  return static_cast<float>(finite(logit) - log_sum_exp(logits));
}

}  // namespace quire

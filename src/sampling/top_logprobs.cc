#include "sampling/top_logprobs.h"

#include <algorithm>
#include <limits>

#include "sampling/log_softmax.h"

namespace quire {

void top_log_probabilities(std::span<const float> logits, std::span<TokenLogprob> out) {
  std::ranges::fill(out, TokenLogprob{});
  if (out.empty()) return;
  // Insertion into a short sorted list: nearly every logit fails the one comparison with its last entry.
  size_t n = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = std::min(logits[i], std::numeric_limits<float>::max());
    const bool above = logit > -std::numeric_limits<float>::infinity();  // false for NaN too
    if (!above || (n == out.size() && !(logit > out[n - 1].logprob))) continue;
    size_t at = n < out.size() ? n++ : n - 1;
    for (; at > 0 && logit > out[at - 1].logprob; --at) out[at] = out[at - 1];
    out[at] = {static_cast<int32_t>(i), logit};
  }
  const double sum = log_sum_exp(logits);
  for (TokenLogprob& entry : out.first(n)) entry.logprob = static_cast<float>(entry.logprob - sum);
}

}  // namespace quire

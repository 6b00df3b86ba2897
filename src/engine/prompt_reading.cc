#include "engine/prompt_reading.h"

#include <algorithm>

#include "base/check.h"
#include "sampling/log_softmax.h"

namespace quire {

PromptRecord::PromptRecord(PromptReading reading, std::span<const int32_t> prompt, const Sizes& sizes)
    : reading_(reading) {
  if (reading == PromptReading::kNone) return;
  n_prompt_ = static_cast<int64_t>(prompt.size());
  if (reading == PromptReading::kLastState) n_read_ = n_prompt_ - 1;
  if (reads_state(reading)) {
    sum_.resize(static_cast<size_t>(sizes.n_hidden));
    state_.resize(sum_.size());
    return;
  }
  n_top_ = static_cast<size_t>(sizes.n_top);
  logprobs_.resize(prompt.size(), std::numeric_limits<float>::quiet_NaN());
  top_.resize(prompt.size() * n_top_);
}

size_t PromptRecord::bytes(PromptReading reading, size_t n_prompt, const Sizes& sizes) {
  if (reading == PromptReading::kNone) return 0;
  if (reads_state(reading))
    return static_cast<size_t>(sizes.n_hidden) *
           (sizeof(decltype(sum_)::value_type) + sizeof(decltype(state_)::value_type));
  return n_prompt *
         (sizeof(decltype(logprobs_)::value_type) + static_cast<size_t>(sizes.n_top) * sizeof(TokenLogprob));
}

// A row tells about the token after it.
void PromptRecord::take_logits(int64_t position, std::span<const int32_t> prompt,
                               std::span<const float> logits) {
  const auto next = static_cast<size_t>(position) + 1;
  if (next >= prompt.size()) return;
  const int32_t id = prompt[next];
  const bool known = id >= 0 && static_cast<size_t>(id) < logits.size();
  logprobs_[next] = known ? log_probability(logits, id) : -std::numeric_limits<float>::infinity();
  top_log_probabilities(logits, std::span(top_).subspan(next * n_top_, n_top_));
}

void PromptRecord::take_state(int64_t position, std::span<const float> row) {
  QUIRE_CHECK(wants(position) && row.size() == sum_.size());
  for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += double{row[i]};
}

void PromptRecord::taken(int64_t end) {
  n_read_ = std::max(n_read_, std::min(end, n_prompt_));
  if (!done() || !reads_state(reading_)) return;
  const auto n = static_cast<double>(reading_ == PromptReading::kMeanState ? n_prompt_ : 1);
  std::ranges::transform(sum_, state_.begin(), [n](double sum) { return static_cast<float>(sum / n); });
}

}  // namespace quire

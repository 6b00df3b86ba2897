#include "sampling/sampler.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sampling/log_softmax.h"
#include "sampling/philox.h"

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double uniform(const SampleCounter& counter) {
  return uniform_from(
      philox4x32({static_cast<uint32_t>(counter.position), static_cast<uint32_t>(counter.position >> 32),
                  counter.choice, 0},
                 {static_cast<uint32_t>(counter.seed), static_cast<uint32_t>(counter.seed >> 32)}));
}

int32_t draw_filtered(Candidates candidates, const SamplingSettings& settings, const SampleCounter& counter) {
  if (settings.top_k > 0) candidates.keep_top_k(static_cast<size_t>(settings.top_k));
  if (settings.typical_p < 1.0f) candidates.keep_typical(settings.typical_p);
  if (settings.top_p < 1.0f) candidates.keep_top_p(settings.top_p);
  if (settings.min_p > 0.0f) candidates.keep_min_p(settings.min_p);
  return candidates.draw(settings.temperature, uniform(counter));
}

Error nothing_left(std::span<const float> logits) {
  if (argmax_logit(logits) < 0) {
    return make_error(ErrorCode::kInternal, "no token can be chosen: the model gave only NaN or -inf logits");
  }
  return make_error(ErrorCode::kInvalidArgument,
                    "no token can be chosen: logit_bias, suppress and penalties exclude all of them");
}

}  // namespace

Sampler::Sampler(int32_t n_vocab)
    : adjusted_(static_cast<size_t>(n_vocab)),
      counts_(static_cast<size_t>(n_vocab)),
      candidates_(static_cast<size_t>(n_vocab)) {}

Result<SampledToken> Sampler::sample(std::span<const float> logits, const SamplingSettings& settings,
                                     std::span<const int32_t> history, const SampleCounter& counter) {
  QUIRE_CHECK(logits.size() == adjusted_.size());
  QUIRE_ASSIGN_OR_RETURN(const std::span<const float> row, adjust(logits, settings, history));
  SampledToken token;
  if (settings.temperature == 0.0f) {
    token.id = argmax_logit(row);
    if (token.id < 0) return nothing_left(logits);
  } else {
    const Candidates candidates(candidates_, row);
    if (candidates.items().empty()) return nothing_left(logits);
    token.id = draw_filtered(candidates, settings, counter);
  }
  token.logprob = settings.logprob == Logprob::kCompute ? log_probability(logits, token.id)
                                                        : std::numeric_limits<float>::quiet_NaN();
  return token;
}

Result<std::span<const float>> Sampler::adjust(std::span<const float> logits,
                                               const SamplingSettings& settings,
                                               std::span<const int32_t> history) {
  if (settings.logit_bias.empty() && settings.suppress.empty() && !settings.has_penalties()) return logits;
  std::ranges::copy(logits, adjusted_.begin());
  for (const LogitBias& entry : settings.logit_bias) {
    QUIRE_CHECK(entry.token >= 0 && entry.token < n_vocab());
    adjusted_[static_cast<size_t>(entry.token)] += entry.bias;
  }
  for (const int32_t token : settings.suppress) {
    QUIRE_CHECK(token >= 0 && token < n_vocab());
    adjusted_[static_cast<size_t>(token)] = -kInfinity;
  }
  if (settings.has_penalties()) QUIRE_RETURN_IF_ERROR(penalize(settings, history));
  return std::span<const float>(adjusted_);
}

Status Sampler::penalize(const SamplingSettings& settings, std::span<const int32_t> history) {
  if (settings.penalty_window >= 0) {
    history = history.last(std::min(history.size(), static_cast<size_t>(settings.penalty_window)));
  }
  for (const int32_t token : history) {
    if (token < 0 || token >= n_vocab()) {
      return make_error(ErrorCode::kInvalidArgument,
                        "the history holds token {}, the vocabulary has tokens 0 to {}", token,
                        n_vocab() - 1);
    }
  }
  for (const int32_t token : history) ++counts_[static_cast<size_t>(token)];
  for (const int32_t token : history) {
    int32_t& count = counts_[static_cast<size_t>(token)];
    if (count == 0) continue;  // an earlier occurrence was handled
    float& logit = adjusted_[static_cast<size_t>(token)];
    logit = logit <= 0.0f ? logit * settings.repetition_penalty : logit / settings.repetition_penalty;
    logit -= static_cast<float>(count) * settings.frequency_penalty + settings.presence_penalty;
    count = 0;
  }
  return {};
}

}  // namespace quire

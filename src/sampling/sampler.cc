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

Sampler::Sampler(int64_t max_vocab)
    : adjusted_(static_cast<size_t>(max_vocab)),
      counts_(static_cast<size_t>(max_vocab)),
      candidates_(static_cast<size_t>(max_vocab)) {}

size_t Sampler::plan_bytes(int64_t max_vocab) {
  return static_cast<size_t>(max_vocab) * (sizeof(float) + sizeof(int32_t) + sizeof(Candidate));
}

size_t Sampler::bytes() const {
  return adjusted_.capacity() * sizeof(float) + counts_.capacity() * sizeof(int32_t) +
         candidates_.capacity() * sizeof(Candidate);
}

Result<SampledToken> Sampler::sample(std::span<const float> logits, const SamplingSettings& settings,
                                     std::span<const int32_t> history, const SampleCounter& counter) {
  QUIRE_CHECK(logits.size() <= adjusted_.size());
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
  const std::span<float> row = std::span(adjusted_).first(logits.size());
  std::ranges::copy(logits, row.begin());
  for (const LogitBias& entry : settings.logit_bias) {
    QUIRE_CHECK(entry.token >= 0 && static_cast<size_t>(entry.token) < row.size());
    row[static_cast<size_t>(entry.token)] += entry.bias;
  }
  for (const int32_t token : settings.suppress) {
    QUIRE_CHECK(token >= 0 && static_cast<size_t>(token) < row.size());
    row[static_cast<size_t>(token)] = -kInfinity;
  }
  if (settings.has_penalties()) QUIRE_RETURN_IF_ERROR(penalize(row, settings, history));
  return std::span<const float>(row);
}

Status Sampler::penalize(std::span<float> row, const SamplingSettings& settings,
                         std::span<const int32_t> history) {
  if (settings.penalty_window >= 0) {
    history = history.last(std::min(history.size(), static_cast<size_t>(settings.penalty_window)));
  }
  for (const int32_t token : history) {
    if (token < 0 || static_cast<size_t>(token) >= row.size()) {
      return make_error(ErrorCode::kInvalidArgument,
                        "the history holds token {}, the vocabulary has tokens 0 to {}", token,
                        row.size() - 1);
    }
  }
  for (const int32_t token : history) ++counts_[static_cast<size_t>(token)];
  for (const int32_t token : history) {
    int32_t& count = counts_[static_cast<size_t>(token)];
    if (count == 0) continue;  // an earlier occurrence was handled
    float& logit = row[static_cast<size_t>(token)];
    logit = logit <= 0.0f ? logit * settings.repetition_penalty : logit / settings.repetition_penalty;
    logit -= static_cast<float>(count) * settings.frequency_penalty + settings.presence_penalty;
    count = 0;
  }
  return {};
}

}  // namespace quire

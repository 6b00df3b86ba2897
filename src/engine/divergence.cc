#include "engine/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "sampling/log_softmax.h"
#include "sampling/portable_math.h"

namespace quire {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxCode = std::numeric_limits<uint16_t>::max();
// A token that is excluded, or a rest that vanished in rounding, is taken for one this unlikely.
constexpr double kLeastLogprob = -700;

double logprob_of(float logit, double log_sum) {
  // NaN and -inf are excluded tokens.
  return logit > -std::numeric_limits<float>::infinity() ? static_cast<double>(logit) - log_sum : -kInfinity;
}

// The log-probability at and above which tokens are kept. Found in a histogram with bins of 1/8 nat: all
// below 32 nats fall into the last one, and weigh less than kRestMass in any vocabulary.
class KeepThreshold {
 public:
  void add(double logprob) {
    if (logprob == -kInfinity) return;
    const double bin = std::min(-logprob * kBinsPerNat, kBins - 1.0);
    mass_[static_cast<size_t>(std::max(bin, 0.0))] += portable_exp(logprob);
  }
  double value() const {
    double rest = 0;
    for (size_t bin = kBins - 1; bin > 0; --bin) {
      rest += mass_[bin];
      if (rest > kRestMass) return -static_cast<double>(bin + 1) / kBinsPerNat;
    }
    return -1.0 / kBinsPerNat;
  }

 private:
  static constexpr double kBinsPerNat = 8;
  static constexpr size_t kBins = 32 * 8;
  std::array<double, kBins> mass_{};
};

// One term of the sum in divergence().
double term(double p, double log_ratio, double q) { return p * log_ratio - p + q; }

}  // namespace

BaseRow make_base_row(std::span<const float> logits, TokenId next) {
  const double log_sum = log_sum_exp(logits);
  KeepThreshold threshold;
  for (const float logit : logits) threshold.add(logprob_of(logit, log_sum));
  const double least = threshold.value();
  BaseRow row{.top = argmax_logit(logits), .next_logprob = log_probability(logits, next), .rest_logprob = 0};
  double rest = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double logprob = logprob_of(logits[i], log_sum);
    if (logprob > least) {
      const auto code = static_cast<int>(std::lround(std::max(0.0, -logprob / kLogStep)));
      row.kept.push_back(
          {.id = static_cast<TokenId>(i), .code = static_cast<uint16_t>(std::min(code, kMaxCode))});
    } else {
      rest += portable_exp(logprob);
    }
  }
  row.rest_logprob =
      rest > 0 ? static_cast<float>(portable_log(rest)) : -std::numeric_limits<float>::infinity();
  return row;
}

double divergence(const BaseRow& base, std::span<const float> logits) {
  const double log_sum = log_sum_exp(logits);
  double sum = 0;
  double kept = 0;
  for (const BaseRow::Kept& token : base.kept) {
    const double log_p = -static_cast<double>(token.code) * kLogStep;
    const double log_q = std::max(logprob_of(logits[static_cast<size_t>(token.id)], log_sum), kLeastLogprob);
    const double q = portable_exp(log_q);
    sum += term(portable_exp(log_p), log_p - log_q, q);
    kept += q;
  }
  const double rest = std::max(1.0 - kept, 0.0);
  const double log_p = static_cast<double>(base.rest_logprob);
  if (log_p == -kInfinity) return std::max(sum + rest, 0.0);
  const double log_rest = rest > 0 ? portable_log(rest) : kLeastLogprob;
  return std::max(sum + term(portable_exp(log_p), log_p - log_rest, rest), 0.0);
}

MeanWithError mean_with_error(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  MeanWithError result{.mean = sum / n};
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.error = std::sqrt(squares / (n - 1) / n);
  return result;
}

Perplexity perplexity_of(std::span<const double> logprobs) {
  QUIRE_CHECK(!logprobs.empty());
  const MeanWithError mean = mean_with_error(logprobs);
  const double value = std::exp(-mean.mean);
  return {.value = value, .error = value * mean.error};
}

DivergenceSummary summarize_divergence(std::span<const double> values) {
  QUIRE_CHECK(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  return {.mean = mean_with_error(values), .median = at(0.5), .p99 = at(0.99), .max = sorted.back()};
}

BaseComparison summarize(const ComparedTokens& tokens) {
  const size_t n = tokens.logprob.size();
  QUIRE_CHECK(tokens.base_logprob.size() == n && tokens.divergence.size() == n &&
              tokens.same_top.size() == n);
  std::vector<double> lost(n);
  for (size_t i = 0; i < n; ++i) lost[i] = tokens.base_logprob[i] - tokens.logprob[i];
  return {.perplexity = perplexity_of(tokens.logprob),
          .base_perplexity = perplexity_of(tokens.base_logprob),
          .log_ratio = mean_with_error(lost),
          .divergence = summarize_divergence(tokens.divergence),
          .same_top = mean_with_error(tokens.same_top)};
}

}  // namespace quire

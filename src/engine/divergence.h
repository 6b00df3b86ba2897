// How far a model's prediction is from a base prediction of the same token, and from what came next.
//
// A base row keeps the likely part of a distribution: every token but those that together weigh at most
// kRestMass, and the weight of those as one. The divergence of such a row is at most the true one, and short
// of it by kRestMass times the divergence inside the rest: below 1e-5 while that is below 0.01 (0.005 between
// int8 and exact activations of one model). A row holds a few thousand tokens instead of the whole
// vocabulary. Log-probabilities are multiples of 1/2048, which moves the divergence by the square of the
// rounding, 1e-8, not by the rounding: see divergence().
//
// Pure functions of rows and of lists of figures; thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/token.h"

namespace quire {

inline constexpr double kRestMass = 0x1p-10;
inline constexpr float kLogStep = 0x1p-11f;  // of kept log-probabilities, in nats

struct BaseRow {
  struct Kept {
    TokenId id;
    uint16_t code;  // log-probability = -code * kLogStep
  };
  TokenId top = 0;           // the likeliest token, the lowest id on ties
  float next_logprob = 0;    // of the token that came next, exact
  float rest_logprob = 0;    // of all tokens that are not kept; -inf when there are none
  std::vector<Kept> kept{};  // ascending by id
};

// At least one logit must be above -inf.
BaseRow make_base_row(std::span<const float> logits, TokenId next);

// The Kullback-Leibler divergence from base to `logits`, in nats, never negative. Computed as
// sum p ln(p / q) - p + q, which is the same for distributions, and where an error of p counts only times
// ln(p / q). Ids of the row must be inside `logits`, of which at least one must be above -inf.
double divergence(const BaseRow& base, std::span<const float> logits);

struct MeanWithError {
  double mean = 0;
  double error = 0;  // standard error of the mean; 0 for fewer than two values
};
MeanWithError mean_with_error(std::span<const double> values);

struct Perplexity {
  double value = 0;  // e^(mean of -ln p of the token that came)
  double error = 0;  // standard error
};
// `logprobs` must not be empty.
Perplexity perplexity_of(std::span<const double> logprobs);

struct DivergenceSummary {
  MeanWithError mean{};
  double median = 0, p99 = 0, max = 0;
};
// Percentiles are values of the list: the smallest that at least that share does not exceed. Not empty.
DivergenceSummary summarize_divergence(std::span<const double> values);

// What a run said of every scored token of a text, beside a base.
struct ComparedTokens {
  std::vector<double> logprob{};       // of the token that came
  std::vector<double> base_logprob{};  // the base's
  std::vector<double> divergence{};
  std::vector<double> same_top{};  // 1 where both put the same token first, else 0
};

struct BaseComparison {
  Perplexity perplexity{};
  Perplexity base_perplexity{};
  MeanWithError log_ratio{};  // ln(perplexity / base perplexity), the error that of the paired differences
  DivergenceSummary divergence{};
  MeanWithError same_top{};  // a share
};
// The lists are equally long and not empty.
BaseComparison summarize(const ComparedTokens& tokens);

}  // namespace quire

// Maximum, argmax and log-probabilities of a row of logits.
//
// NaN counts as excluded (like -inf) and +inf as the largest float, so every row has a well-defined answer.
// Sums run in a fixed order in f64: the bits depend on the row only. Pure; thread safe.
//
//   float logprob = log_probability(logits, token);
#pragma once

#include <cstdint>
#include <span>

namespace quire {

// The largest logit; -inf when all are -inf or NaN, or the row is empty.
float largest_logit(std::span<const float> logits);

// Index of the largest logit, the lowest one on ties; -1 when all are -inf or NaN.
int32_t argmax_logit(std::span<const float> logits);

// ln sum exp(logit). At least one logit must be above -inf.
double log_sum_exp(std::span<const float> logits);

// ln of the softmax probability of `token`, which must be a valid index; -inf when excluded. At least one
// logit must be above -inf.
float log_probability(std::span<const float> logits, int32_t token);

}  // namespace quire

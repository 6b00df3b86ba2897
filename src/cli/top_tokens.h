// The likeliest tokens of a row of logits. Pure function.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tokenizer/token.h"

namespace quire::cli {

struct TopToken {
  TokenId id = 0;
  float logit = 0;
  double logprob = 0;  // natural logarithm of its share
};

// At most `n`, highest logit first, lowest id first among equals.
std::vector<TopToken> top_tokens(std::span<const float> logits, size_t n);

}  // namespace quire::cli

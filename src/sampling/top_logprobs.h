// The likeliest tokens of a row of logits, with their log-probabilities.
//
// Pure; thread safe; allocates nothing.
//
//   std::array<TokenLogprob, 5> top;
//   top_log_probabilities(logits, top);
#pragma once

#include <cstdint>
#include <span>

namespace quire {

struct TokenLogprob {
  int32_t id = -1;
  float logprob = 0;  // ln of the probability under softmax of the row
};

// The out.size() likeliest tokens, best first, the lower id first on ties; ids are -1 where a row has fewer
// logits above -inf. At least one logit must be above -inf.
void top_log_probabilities(std::span<const float> logits, std::span<TokenLogprob> out);

}  // namespace quire

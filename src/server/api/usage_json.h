// JSON parts that the answers of several APIs share. Pure functions.
#pragma once

#include <span>

#include "server/answer/accounting.h"
#include "server/answer/token_detail.h"
#include "server/api/api_error.h"

namespace quire::server {

// {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details",
// "completion_tokens_details"}
Json usage_json(const Accounting& accounting);

// {"cache_n", "prompt_n", "prompt_ms", ..., "predicted_per_second"}; prompt_n is what was computed.
Json timings_json(const Accounting& accounting);

// {"id", "token", "bytes", "logprob", "top_logprobs"} of each token; JSON has no -inf: the lowest float
// stands for it.
Json token_details_json(std::span<const TokenDetail> tokens);
double finite_logprob(float logprob);

}  // namespace quire::server

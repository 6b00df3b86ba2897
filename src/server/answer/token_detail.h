// TokenDetail: one token of an answer with its log-probability, as answers with logprobs list them. Plain
// data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::server {

struct TokenDetail {
  int32_t id = 0;
  std::string bytes = {};             // not always whole characters
  float logprob = 0;                  // NaN when none was asked for
  std::vector<TokenDetail> top = {};  // the likeliest tokens at its place, best first
};

}  // namespace quire::server

#include "cli/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quire::cli {

std::vector<TopToken> top_tokens(std::span<const float> logits, size_t n) {
  if (logits.empty()) return {};
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit = [&](TokenId id) { return logits[static_cast<size_t>(id)]; };
  const auto top = ids.begin() + static_cast<std::ptrdiff_t>(std::min(n, ids.size()));
  std::partial_sort(ids.begin(), top, ids.end(),
                    [&](TokenId a, TokenId b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float x : logits) sum += std::exp(x - highest);
  std::vector<TopToken> result;
  for (auto id = ids.begin(); id != top; ++id)
    result.push_back({.id = *id, .logit = logit(*id), .logprob = logit(*id) - highest - std::log(sum)});
  return result;
}

}  // namespace quire::cli

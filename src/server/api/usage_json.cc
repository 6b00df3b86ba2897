#include "server/api/usage_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/utf8.h"

namespace quire::server {
namespace {

// 0 when nothing was measured.
double ratio(double a, double b) { return b > 0 ? a / b : 0.0; }

Json token_json(const TokenDetail& token) {
  Json bytes = Json::array();
  for (const char c : token.bytes) bytes.push_back(static_cast<uint8_t>(c));
  return {{"id", token.id},
          {"token",
           replace_invalid_utf8(std::string_view(token.bytes).substr(0, complete_utf8_prefix(token.bytes)))},
          {"bytes", std::move(bytes)},
          {"logprob", finite_logprob(token.logprob)}};
}

}  // namespace

double finite_logprob(float logprob) {
  return std::max(double{logprob}, double{std::numeric_limits<float>::lowest()});
}

Json usage_json(const Accounting& accounting) {
  return {{"prompt_tokens", accounting.prompt_tokens},
          {"completion_tokens", accounting.completion_tokens},
          {"total_tokens", accounting.total_tokens()},
          {"prompt_tokens_details", {{"cached_tokens", accounting.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", accounting.reasoning_tokens}}}};
}

Json timings_json(const Accounting& accounting) {
  const auto n_prompt = static_cast<double>(accounting.prompt_tokens - accounting.cached_tokens);
  const auto n_answer = static_cast<double>(accounting.completion_tokens);
  return {{"cache_n", accounting.cached_tokens},
          {"prompt_n", accounting.prompt_tokens - accounting.cached_tokens},
          {"prompt_ms", accounting.prompt_seconds * 1e3},
          {"prompt_per_token_ms", ratio(accounting.prompt_seconds * 1e3, n_prompt)},
          {"prompt_per_second", ratio(n_prompt, accounting.prompt_seconds)},
          {"predicted_n", accounting.completion_tokens},
          {"predicted_ms", accounting.answer_seconds * 1e3},
          {"predicted_per_token_ms", ratio(accounting.answer_seconds * 1e3, n_answer)},
          {"predicted_per_second", ratio(n_answer, accounting.answer_seconds)}};
}

Json token_details_json(std::span<const TokenDetail> tokens) {
  Json list = Json::array();
  for (const TokenDetail& token : tokens) {
    Json item = token_json(token);
    Json top = Json::array();
    for (const TokenDetail& other : token.top) top.push_back(token_json(other));
    item["top_logprobs"] = std::move(top);
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace quire::server

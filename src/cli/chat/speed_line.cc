#include "cli/chat/speed_line.h"

#include <fmt/format.h>

namespace quire::cli {

std::string format_rate(double tokens_per_second) {
  return fmt::format("{:.{}f} tokens/s", tokens_per_second, tokens_per_second < 100 ? 1 : 0);
}

std::string speed_line(const GenerationResult& answer) {
  const auto rate = [](double tps) { return tps > 0 ? ", " + format_rate(tps) : ""; };
  const std::string reused =
      answer.reused_tokens > 0 ? fmt::format(" ({} reused)", answer.reused_tokens) : "";
  return fmt::format("prompt {} tokens{}{}; answer {} tokens{}{}", answer.prompt_tokens, reused,
                     rate(answer.prefill_tps()), answer.tokens.size(), rate(answer.decode_tps()),
                     answer.finish_reason == FinishReason::kLength ? ", cut at the length limit" : "");
}

}  // namespace quire::cli

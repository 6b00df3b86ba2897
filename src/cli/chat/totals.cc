#include "cli/chat/totals.h"

#include <fmt/format.h>

#include "cli/chat/speed_line.h"

namespace quire::cli {

void Totals::add(const GenerationResult& result) {
  ++answers;
  prompt_tokens += result.prompt_tokens - result.reused_tokens;
  answer_tokens += static_cast<int64_t>(result.tokens.size());
  decode_steps += result.decode_steps;
  prefill_seconds += result.prefill_seconds;
  decode_seconds += result.decode_seconds;
}

std::string totals_line(const Totals& totals) {
  const auto speed = [](int64_t count, double seconds) {
    return count > 0 && seconds > 0 ? " at " + format_rate(static_cast<double>(count) / seconds) : "";
  };
  return fmt::format("{} answer{}: {} tokens read{}, {} written{}", totals.answers,
                     totals.answers == 1 ? "" : "s", totals.prompt_tokens,
                     speed(totals.prompt_tokens, totals.prefill_seconds), totals.answer_tokens,
                     speed(totals.decode_steps, totals.decode_seconds));
}

}  // namespace quire::cli

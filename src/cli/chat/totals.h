// Totals: the work of all answers of a session.
//
// A plain value.
#pragma once

#include <cstdint>
#include <string>

#include "engine/generation.h"

namespace quire::cli {

struct Totals {
  int64_t answers = 0;
  int64_t prompt_tokens = 0;  // that were read, not reused
  int64_t answer_tokens = 0;
  int64_t decode_steps = 0;
  double prefill_seconds = 0;
  double decode_seconds = 0;

  void add(const GenerationResult& result);
};

// "3 answers: 120 tokens read at 410 tokens/s, 300 written at 48.2 tokens/s"
std::string totals_line(const Totals& totals);

}  // namespace quire::cli

// How fast an answer was, in words. Pure functions.
#pragma once

#include <string>

#include "engine/generation.h"

namespace quire::cli {

// "48.2 tokens/s"
std::string format_rate(double tokens_per_second);

// "prompt 31 tokens (12 reused), 412 tokens/s; answer 57 tokens, 48.2 tokens/s"
std::string speed_line(const GenerationResult& answer);

}  // namespace quire::cli

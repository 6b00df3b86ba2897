// What `quire perplexity` prints.
#pragma once

#include <cstdint>
#include <span>

#include "cli/console.h"
#include "cli/divergence_gate.h"
#include "engine/prediction_scorer.h"

namespace quire::cli {

struct PerplexityReport {
  int64_t n_tokens = 0;  // scored
  int64_t window = 0;
  double seconds = 0;
  TextScore score{};
};

void print(Console& console, const PerplexityReport& report, std::span<const GateResult> gates);

}  // namespace quire::cli

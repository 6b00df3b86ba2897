// Options of `quire run` about the answer: prompt, length, sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/generation_settings.h"

namespace CLI {
class App;
}

namespace quire::cli {

enum class PromptForm : uint8_t { kChat, kRaw };

struct RunOptions {
  std::optional<std::string> prompt;  // "-" stands for standard input
  std::string system;
  PromptForm form = PromptForm::kChat;
  int64_t max_tokens = -1;
  EndTokens end_tokens = EndTokens::kStop;
  std::vector<std::string> stop;
  // Unset: what the model's file suggests, else the defaults of SamplingSettings.
  std::optional<float> temperature, top_p, min_p, typical_p;
  std::optional<float> repetition_penalty, frequency_penalty, presence_penalty;
  std::optional<int32_t> top_k;
  std::optional<uint64_t> seed;  // unset: drawn at random
};

// `options` must outlive the parsing.
void add_run_options(CLI::App& app, RunOptions& options);

// The settings these options ask for over what `metadata` suggests. Draws the seed when none was given.
// Errors: those of suggested_sampling.
Result<GenerationSettings> generation_settings(const RunOptions& options, const Metadata& metadata);

}  // namespace quire::cli

// What the ways of a verification have in common: the sequences, a way's result, a runner to run them on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/generation_settings.h"
#include "engine/runner.h"
#include "engine/verify/trace.h"
#include "engine/verify/verification.h"

namespace quire::verify {

// A sequence to run: its prompt, and how its answer is sampled.
struct Case {
  std::vector<int32_t> prompt;
  GenerationSettings settings;
  Trace reference;              // from running it alone
  std::vector<int32_t> tokens;  // prompt and answer, but for the answer's last token
};

// Prompts of pseudo-random ids, greedy and sampled in turn; the reference is not there yet.
std::vector<Case> make_cases(Extent extent, int64_t n_vocab);
// n pseudo-random ids of the vocabulary.
std::vector<int32_t> random_tokens(uint32_t seed, size_t n, int64_t n_vocab);

// What a way did with all cases.
struct WayResult {
  std::vector<Trace> traces = {};  // by case
  int64_t count = 0;               // that proves the way was taken
};

struct Way {
  std::string name;
  std::string counter;
};

// Rows of one answer at least; so that a request which runs out of pages does so while it is looked at.
inline constexpr int64_t kAnswer = 24;
// Steps of the runners used here.
inline constexpr int64_t kMaxStepTokens = 512;
inline constexpr int32_t kMaxSequences = 64;
inline constexpr int64_t kContext = 256;

Result<std::unique_ptr<Runner>> load(const std::string& path, const EngineSettings& settings);

// Feeds tokens to a sequence in one step; their logits go to the trace.
Status feed(Runner& runner, SequenceId sequence, std::span<const int32_t> tokens, Trace& trace);
// Runs the cases alone and fills in their references.
Status make_references(Runner& runner, std::vector<Case>& cases);

}  // namespace quire::verify

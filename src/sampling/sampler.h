// Sampler: chooses the next token from a row of logits.
//
// A sample is a pure function of (logits row, settings, history, counter): no state survives a call, so the
// same token comes out alone or in a batch, in order or speculatively, on every machine. The order of the
// chain:
//   1. logit bias and suppressed tokens
//   2. penalties over the last tokens of the history: a logit l of a token that occurs there becomes
//      l / repetition (l * repetition when l <= 0), then l - count * frequency - presence
//   3. temperature 0: the largest logit, the lowest id on ties; the filters below are not consulted
//   4. top-k, typical, top-p, min-p, each on the softmax of what the one before it left
//   5. softmax(l / temperature), one draw
// A NaN logit is never chosen; +inf counts as the largest float.
//
// The object owns scratch for a largest vocabulary, taken at construction; a call allocates nothing. One
// thread at a time; use one sampler per thread.
//
//   Sampler sampler(n_vocab);
//   QUIRE_ASSIGN_OR_RETURN(SampledToken token, sampler.sample(logits, settings, history, {.seed = 7,
//   .position = 12}));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "sampling/candidates.h"
#include "sampling/sampling_settings.h"

namespace quire {

// Names one draw. Different counters give independent numbers, equal ones the same.
struct SampleCounter {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among several answers to one prompt
  uint64_t position = 0;  // absolute position of the token that is chosen
};

struct SampledToken {
  int32_t id = 0;
  // ln of the token's probability under softmax of the row as the model gave it; NaN when the settings skip
  // it.
  float logprob = 0.0f;
};

class Sampler {
 public:
  explicit Sampler(int64_t max_vocab);
  // Of scratch, in bytes.
  static size_t plan_bytes(int64_t max_vocab);
  size_t bytes() const;

  // logits: [n_vocab], at most max_vocab. settings: validated for this vocabulary. history: the sequence so
  // far, prompt included, oldest first; only the penalties read it. Errors: kInvalidArgument when bias and
  // suppression exclude every token or the history holds an id outside the vocabulary; kInternal when the row
  // itself has no logit above -inf (a broken model).
  Result<SampledToken> sample(std::span<const float> logits, const SamplingSettings& settings,
                              std::span<const int32_t> history, const SampleCounter& counter);

 private:
  // The row after steps 1 and 2: `logits` itself when nothing changes it, else scratch.
  Result<std::span<const float>> adjust(std::span<const float> logits, const SamplingSettings& settings,
                                        std::span<const int32_t> history);
  Status penalize(std::span<float> row, const SamplingSettings& settings, std::span<const int32_t> history);

  std::vector<float> adjusted_;        // [max_vocab]
  std::vector<int32_t> counts_;        // [max_vocab], all zero between calls
  std::vector<Candidate> candidates_;  // [max_vocab]
};

}  // namespace quire

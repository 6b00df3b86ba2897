// GenerationSettings: how one answer is generated, and what a model's file suggests for it.
//
// Plain data, copied freely.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/metadata.h"
#include "sampling/sampling_settings.h"

namespace quire {

enum class EndTokens : uint8_t {
  kStop,    // an end-of-generation token ends the answer
  kIgnore,  // it is a token like any other (for measurements)
};

inline constexpr int32_t kMaxTopLogprobs = 100;

struct GenerationSettings {
  SamplingSettings sampling = {.logprob = Logprob::kSkip};
  uint64_t seed = 0;
  uint32_t choice = 0;                 // index among several answers to one prompt
  int64_t max_tokens = -1;             // at most this many; -1 = as many as the context holds
  std::vector<std::string> stop = {};  // the answer ends before the first of these
  EndTokens end_tokens = EndTokens::kStop;
  // Both by the Engine only:
  std::vector<int32_t> stop_tokens = {};  // end the answer like end-of-generation tokens, whatever end_tokens
  int64_t min_tokens = 0;                 // before so many, no token that would end the answer is chosen
  int32_t top_logprobs = 0;  // of the likeliest tokens, reported beside each chosen one (by the Engine)
};

// SamplingSettings with the values that the file suggests (`general.sampling.*`: temp, top_k, top_p, min_p,
// penalty_repeat, penalty_last_n) over the defaults. Errors: kCorrupt for a key of the wrong type or a value
// out of range.
Result<SamplingSettings> suggested_sampling(const Metadata& metadata);

}  // namespace quire

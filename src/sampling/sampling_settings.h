// SamplingSettings: how a request wants its next token chosen.
//
// A plain value, validated once when the request arrives. The defaults are those users of llama.cpp know.
//
//   SamplingSettings settings{.temperature = 0.7f, .top_p = 0.9f};
//   QUIRE_RETURN_IF_ERROR(settings.validate(n_vocab));
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace quire {

struct LogitBias {
  int32_t token;
  float bias;  // added to the logit; -inf excludes the token
};

enum class Logprob { kSkip, kCompute };

struct SamplingSettings {
  float temperature = 0.8f;         // >= 0; 0 = greedy
  int32_t top_k = 40;               // >= 0; 0 = off
  float typical_p = 1.0f;           // [0, 1]; 1 = off
  float top_p = 0.95f;              // [0, 1]; 1 = off
  float min_p = 0.05f;              // [0, 1]; 0 = off
  float repetition_penalty = 1.0f;  // > 0; 1 = off; once for every token that occurs in the window
  float frequency_penalty = 0.0f;   // finite; 0 = off; times the number of occurrences
  float presence_penalty = 0.0f;    // finite; 0 = off
  int32_t penalty_window = 64;      // last tokens of the history that the penalties see; 0 = none, -1 = all
  std::vector<LogitBias> logit_bias = {};  // several entries for one token add up
  std::vector<int32_t> suppress = {};      // tokens that are never chosen
  // The logprob of the chosen token costs one exp per vocabulary entry.
  Logprob logprob = Logprob::kCompute;

  // Errors: kInvalidArgument naming the first field that is out of range and its value.
  Status validate(int32_t n_vocab) const;

  // Whether the largest logit, lowest id on ties, is all there is to know.
  bool is_plain_greedy() const {
    return temperature == 0.0f && logprob == Logprob::kSkip && logit_bias.empty() && suppress.empty() &&
           !has_penalties();
  }
  bool has_penalties() const {
    return penalty_window != 0 &&
           (repetition_penalty != 1.0f || frequency_penalty != 0.0f || presence_penalty != 0.0f);
  }
};

}  // namespace quire

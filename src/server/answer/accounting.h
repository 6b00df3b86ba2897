// Accounting: what one HTTP request has cost, the one source of usage, timings, metrics and the access log.
//
// Plain data, filled by the answer's task.
#pragma once

#include <cstdint>

namespace quire::server {

struct Accounting {
  int64_t prompt_tokens = 0;      // each prompt once, however many choices answer it
  int64_t cached_tokens = 0;      // of them, whose keys and values were there already
  int64_t completion_tokens = 0;  // of all choices, up to where each one's text ends
  int64_t reasoning_tokens = 0;   // of them, thinking
  double queued_seconds = 0;      // of the first choice, as all below
  double prompt_seconds = 0;      // from when it was let in to its first token
  double answer_seconds = 0;      // from its first token to the end
  double total_seconds = 0;

  int64_t total_tokens() const { return prompt_tokens + completion_tokens; }
};

}  // namespace quire::server

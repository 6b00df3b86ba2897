// PromptReading: what a request wants to know of its prompt beside an answer, and the record of it.
//
// Every row of a prompt that is read goes through the vocabulary's layer, or is averaged; the rows come in
// steps of any size, in order, some of them again after a preemption, and each counts once. The result
// depends on the prompt only. The engine writes, without allocating; a reader may look once the first token
// of the answer is there, or the end.
//
//   PromptRecord record(PromptReading::kLogprobs, prompt, {.n_top = 2, .n_hidden = 576});
//   if (record.wants(held, n)) ...                             // logits of all rows of this piece
//   if (record.wants(position)) record.take_logits(position, prompt, logits);
//   record.taken(held + n);
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sampling/top_logprobs.h"

namespace quire {

enum class PromptReading : uint8_t {
  kNone,
  kLogprobs,   // the log-probability of each of its tokens; nothing of it is taken from shared prefixes
  kLastState,  // the normed output of the last layer at its last token
  kMeanState,  // the mean of those at all tokens; nothing of it is taken from shared prefixes
};

// Whether every row of the prompt is computed and read.
inline bool reads_all_rows(PromptReading reading) {
  return reading == PromptReading::kLogprobs || reading == PromptReading::kMeanState;
}
inline bool reads_state(PromptReading reading) {
  return reading == PromptReading::kLastState || reading == PromptReading::kMeanState;
}

class PromptRecord {
 public:
  struct Sizes {
    int32_t n_top = 0;     // likeliest tokens beside each of the prompt
    int64_t n_hidden = 0;  // of the model
  };
  PromptRecord() = default;
  PromptRecord(PromptReading reading, std::span<const int32_t> prompt, const Sizes& sizes);
  // That such a record allocates.
  static size_t bytes(PromptReading reading, size_t n_prompt, const Sizes& sizes);

  // --- Reader ---
  PromptReading reading() const { return reading_; }
  // Of each token, given those before it: [n_prompt], the first NaN; -inf for ids that are never predicted.
  std::span<const float> logprobs() const { return logprobs_; }
  // The likeliest tokens at the place of token i: [n_top]; of the first none, with ids -1.
  std::span<const TokenLogprob> top(size_t i) const { return std::span(top_).subspan(i * n_top_, n_top_); }
  std::span<const float> state() const { return state_; }  // [n_hidden]

  // --- Engine ---
  // Whether some of the positions [begin, begin + n) were not read before.
  bool wants(int64_t begin, int64_t n) const { return begin < n_prompt_ && begin + n > n_read_; }
  // Likewise the row at `position`; in ascending order, then taken().
  bool wants(int64_t position) const { return position >= n_read_ && position < n_prompt_; }
  void take_logits(int64_t position, std::span<const int32_t> prompt, std::span<const float> logits);
  void take_state(int64_t position, std::span<const float> row);
  // The positions up to `end` are read.
  void taken(int64_t end);
  bool done() const { return n_read_ == n_prompt_; }

 private:
  PromptReading reading_ = PromptReading::kNone;
  size_t n_top_ = 0;
  int64_t n_prompt_ = 0;  // 0 when nothing is read
  int64_t n_read_ = 0;
  std::vector<float> logprobs_;
  std::vector<TokenLogprob> top_;
  std::vector<double> sum_;
  std::vector<float> state_;
};

}  // namespace quire

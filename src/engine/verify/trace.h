// Trace: what one way of running a sequence gave: a hash of every row of logits, and the tokens sampled.
//
// Two ways are equal when every row that both computed has the same bits and the tokens are the same. Plain
// value; the functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quire::verify {

struct Trace {
  std::vector<uint64_t> rows;   // by position; 0 = not computed
  std::vector<int32_t> answer;  // empty where tokens were given rather than sampled

  void set(int64_t position, std::span<const float> logits);
};

struct Comparison {
  int64_t compared = 0;   // rows and tokens
  int64_t different = 0;  // of those
  Comparison& operator+=(const Comparison& other);
};

// Of the bits; never 0.
uint64_t hash_logits(std::span<const float> logits);
// Of the rows, all of them.
uint64_t digest(std::span<const Trace> traces);
Comparison compare(const Trace& reference, const Trace& other);

}  // namespace quire::verify

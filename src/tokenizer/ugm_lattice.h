// LatticeNode: the best way found to reach one position of a text (Viterbi search of the Unigram model).
#pragma once

#include <cstdint>

#include "tokenizer/token.h"

namespace quire::tokenizer {

struct LatticeNode {
  double score;    // sum of token scores up to here
  uint32_t begin;  // where the last token of that way starts
  TokenId token;   // that token
};

}  // namespace quire::tokenizer

// ScorePairs: the pairs of MergeList for SentencePiece BPE, where a pair merges when its joined text is a
// token.
//
// Symbols are ranges of one text. A view; thread safe.
#pragma once

#include <span>
#include <string_view>

#include "tokenizer/merge_list.h"
#include "tokenizer/text_index.h"
#include "tokenizer/token.h"

namespace quire::tokenizer {

struct TextSymbol {
  uint32_t begin;
  uint32_t length;
  TokenId token;  // kNoToken: a character that is no token
};

struct ScorePairs {
  using Symbol = TextSymbol;
  using Cost = float;  // the score, negated: high scores merge first
  std::string_view text;
  const TextIndex& tokens;
  std::span<const float> scores;
  size_t max_token;  // bytes of the longest token

  bool lookup(const TextSymbol& left, const TextSymbol& right, Merge<TextSymbol, float>& out) const {
    const uint32_t length = left.length + right.length;
    if (length > max_token) return false;
    const TokenId id = tokens.find(text.substr(left.begin, length));
    if (id == kNoToken) return false;
    out = {-scores[static_cast<size_t>(id)], {left.begin, length, id}};
    return true;
  }
};

}  // namespace quire::tokenizer

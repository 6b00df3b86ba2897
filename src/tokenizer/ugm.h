// UgmEncoder: the Unigram model; the split of the text whose token scores have the largest sum.
//
// Text is normalised by the vocabulary's character map first and spaces become U+2581. Characters that no
// token covers become the unknown token, neighbours joined. Source: Kudo 2018, "Subword Regularization".
// Immutable, thread safe; points into the Vocab, which must outlive it.
#pragma once

#include <memory>

#include "base/result.h"
#include "tokenizer/byte_trie.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/encoder.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

class UgmEncoder final : public FragmentEncoder {
 public:
  // Errors: those of Charsmap::parse; kCorrupt without an unknown token.
  static Result<std::unique_ptr<UgmEncoder>> build(const Vocab& vocab, std::string_view charsmap);
  void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  UgmEncoder(const Vocab& vocab, Charsmap charsmap);
  void normalize(std::string_view text, std::string& out) const;
  void search(std::string_view text, EncodeScratch& scratch) const;

  const Vocab& vocab_;
  Charsmap charsmap_;
  ByteTrie trie_;
  std::vector<double> token_scores_;  // as the search counts them
  double unknown_score_;              // of one unknown character
};

}  // namespace quire::tokenizer

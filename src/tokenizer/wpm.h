// WpmEncoder: WordPiece; text is normalised and cut into words, each spelled by the longest tokens from the
// left.
//
// Accents are removed (canonical decomposition, combining marks dropped) and letters made small where the
// vocabulary says so; control characters vanish; punctuation marks and CJK ideographs are words of their own.
// A word that cannot be spelled becomes the unknown token. Source: Devlin et al. 2018, "BERT". Immutable,
// thread safe; points into the Vocab, which must outlive it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tokenizer/byte_trie.h"
#include "tokenizer/encoder.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

class WpmEncoder final : public FragmentEncoder {
 public:
  // Errors: kCorrupt without an unknown token.
  static Result<std::unique_ptr<WpmEncoder>> build(const Vocab& vocab);
  void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  explicit WpmEncoder(const Vocab& vocab);
  void encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const;
  void spell_word(std::string_view word, std::vector<TokenId>& ids) const;

  const Vocab& vocab_;
  ByteTrie trie_;
};

}  // namespace quire::tokenizer

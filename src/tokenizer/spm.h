// SpmEncoder: SentencePiece BPE; the neighbouring pair whose joined text is the token of the highest score
// merges first.
//
// Spaces become U+2581, one of them put in front where the vocabulary asks for it. Characters that end up as
// no token are spelled in bytes. Source: Kudo and Richardson 2018, "SentencePiece". Immutable, thread safe;
// points into the Vocab, which must outlive it.
#pragma once

#include "tokenizer/byte_tokens.h"
#include "tokenizer/encoder.h"
#include "tokenizer/pair_filter.h"

namespace quire::tokenizer {

class SpmEncoder final : public FragmentEncoder {
 public:
  explicit SpmEncoder(const Vocab& vocab);
  void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  void encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const;
  void merge_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const;

  const Vocab& vocab_;
  ByteTokens byte_tokens_;
  TextIndex tokens_;      // the tokens that text may become
  size_t max_token_ = 0;  // bytes
  PairFilter pairs_;      // where words can be cut
};

}  // namespace quire::tokenizer

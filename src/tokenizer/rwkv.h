// RwkvEncoder: greedy longest match over bytes; bytes that no token starts with become the unknown token.
//
// Token texts in the file are escaped (\t \n \r \\ \' \" \xHH). Source: the RWKV "world" tokenizer.
// Immutable, thread safe.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/byte_trie.h"
#include "tokenizer/encoder.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

// The bytes of an escaped token text.
std::string unescape_rwkv(std::string_view text);

class RwkvEncoder final : public FragmentEncoder {
 public:
  explicit RwkvEncoder(const Vocab& vocab);
  void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  TokenId unknown_;
  ByteTrie trie_;
};

}  // namespace quire::tokenizer

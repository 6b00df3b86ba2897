// ByteTokens: which token stands for a single raw byte when nothing else matches. Immutable, thread safe.
#pragma once

#include <array>

#include "tokenizer/vocab.h"

namespace quire::tokenizer {

enum class ByteSpelling {
  kAlphabet,  // one character of the GPT-2 byte alphabet
  kHex,       // "<0x0A>", or else the byte itself
};

class ByteTokens {
 public:
  ByteTokens(const Vocab& vocab, ByteSpelling spelling);

  // Appends one id per byte: its token, or else the unknown token, or nothing when there is neither.
  void append(std::string_view bytes, std::vector<TokenId>& ids) const {
    for (const char byte : bytes) {
      const TokenId id = tokens_[static_cast<unsigned char>(byte)];
      if (id != kNoToken) ids.push_back(id);
    }
  }

 private:
  std::array<TokenId, 256> tokens_;
};

// The byte of a token text "<0xHH>", or -1.
int parse_hex_byte(std::string_view text);

}  // namespace quire::tokenizer

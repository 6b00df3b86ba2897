#include "tokenizer/byte_tokens.h"

#include <charconv>

#include "tokenizer/byte_alphabet.h"

namespace quire::tokenizer {

int parse_hex_byte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return -1;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  return error == std::errc() && end == text.data() + 5 ? value : -1;
}

ByteTokens::ByteTokens(const Vocab& vocab, ByteSpelling spelling) {
  tokens_.fill(vocab.special(SpecialRole::kUnk));
  if (spelling == ByteSpelling::kAlphabet) {
    for (size_t i = 0; i < vocab.size(); ++i) {
      const TokenId id = static_cast<TokenId>(i);
      if (vocab.texts[i].size() > 2 || !vocab.spellable(id)) continue;
      const auto bytes = decode_byte_alphabet(vocab.texts[i]);
      if (bytes && bytes->size() == 1) tokens_[static_cast<unsigned char>(bytes->front())] = id;
    }
    return;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    TokenId id = vocab.index.find(fmt::format("<0x{:02X}>", byte));
    if (id == kNoToken) {
      const char raw = static_cast<char>(byte);
      id = vocab.index.find({&raw, 1});
    }
    if (id != kNoToken) tokens_[byte] = id;
  }
}

}  // namespace quire::tokenizer

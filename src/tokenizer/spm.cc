#include "tokenizer/spm.h"

#include <algorithm>

#include "base/check.h"
#include "tokenizer/char_length.h"
#include "tokenizer/encode_scratch.h"
#include "tokenizer/escaped_space.h"

namespace quire::tokenizer {

SpmEncoder::SpmEncoder(const Vocab& vocab)
    : vocab_(vocab), byte_tokens_(vocab, ByteSpelling::kHex), tokens_(vocab.size()) {
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (!vocab.spellable(id)) continue;
    const std::string& text = vocab.texts[i];
    tokens_.insert(text, id);
    max_token_ = std::max(max_token_, text.size());
    pairs_.add(text);
  }
}

void SpmEncoder::merge_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  std::vector<TextSymbol>& symbols = scratch.score_merges.symbols;
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const size_t length = char_length(word.substr(at));
    symbols.push_back(
        {static_cast<uint32_t>(at), static_cast<uint32_t>(length), tokens_.find(word.substr(at, length))});
    at += length;
  }
  scratch.score_merges.run(ScorePairs{word, tokens_, vocab_.scores, max_token_});
  for (const TextSymbol& symbol : symbols) {
    if (symbol.token != kNoToken) {
      ids.push_back(symbol.token);
    } else {
      byte_tokens_.append(word.substr(symbol.begin, symbol.length), ids);
    }
  }
}

void SpmEncoder::encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  scratch.cache.append(word, ids, [&] { merge_word(word, scratch, ids); });
}

void SpmEncoder::encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  scratch.text.clear();
  if (vocab_.flags.space_prefix) scratch.text.append(kEscapedSpace);
  append_escaped(scratch.text, text);
  const std::string_view escaped = scratch.text;
  QUIRE_CHECK(escaped.size() <= UINT32_MAX);
  for (size_t at = 0; at < escaped.size();) {
    const size_t end = pairs_.piece_end(escaped, at);
    encode_word(escaped.substr(at, end - at), scratch, ids);
    at = end;
  }
}

}  // namespace quire::tokenizer

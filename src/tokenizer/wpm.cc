#include "tokenizer/wpm.h"

#include "tokenizer/encode_scratch.h"
#include "tokenizer/escaped_space.h"
#include "tokenizer/wpm_normalizer.h"

namespace quire::tokenizer {

Result<std::unique_ptr<WpmEncoder>> WpmEncoder::build(const Vocab& vocab) {
  if (vocab.special(SpecialRole::kUnk) == kNoToken) {
    return make_error(ErrorCode::kCorrupt,
                      "tokenizer.ggml.unknown_token_id: a bert vocabulary needs an unknown token");
  }
  return std::unique_ptr<WpmEncoder>(new WpmEncoder(vocab));
}

WpmEncoder::WpmEncoder(const Vocab& vocab) : vocab_(vocab) {
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (vocab.spellable(id)) entries.push_back({vocab.texts[i], id});
  }
  trie_ = ByteTrie(std::move(entries));
}

void WpmEncoder::spell_word(std::string_view word, std::vector<TokenId>& ids) const {
  const size_t first = ids.size();
  for (size_t at = 0; at < word.size();) {
    const ByteTrie::Match match = trie_.longest_prefix(word.substr(at));
    if (match.value < 0) {
      ids.resize(first);
      ids.push_back(vocab_.special(SpecialRole::kUnk));
      return;
    }
    ids.push_back(match.value);
    at += match.length;
  }
}

void WpmEncoder::encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  scratch.cache.append(word, ids, [&] { spell_word(word, ids); });
}

void WpmEncoder::encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  const CharClasses& classes = CharClasses::instance();
  std::string& word = scratch.text;  // the current word with its escaped space in front
  word = kEscapedSpace;
  const auto finish_word = [&] {
    if (word.size() == kEscapedSpace.size()) return;
    encode_word(word, scratch, ids);
    word.resize(kEscapedSpace.size());
  };
  for (size_t at = 0; at < text.size();) {
    const ClassedChar c = char_at(classes, text, at);
    at += c.length;
    const WordBreak kind = word_break(c);
    if (kind != WordBreak::kNone) finish_word();
    if (kind == WordBreak::kBetween) continue;
    append_normalized(vocab_.flags, c, word);
    if (kind == WordBreak::kAlone) finish_word();
  }
  finish_word();
}

}  // namespace quire::tokenizer

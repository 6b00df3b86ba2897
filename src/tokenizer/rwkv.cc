#include "tokenizer/rwkv.h"

#include <charconv>

namespace quire::tokenizer {

std::string unescape_rwkv(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    if (c == 'x' && at + 2 < text.size()) {
      int value = 0;
      const char* digits = text.data() + at + 1;
      const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
      if (error == std::errc() && end == digits + 2) {
        out += static_cast<char>(value);
        at += 2;
        continue;
      }
    }
    switch (c) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      default:
        out += c;
    }
  }
  return out;
}

RwkvEncoder::RwkvEncoder(const Vocab& vocab) : unknown_(vocab.special(SpecialRole::kUnk)) {
  std::vector<std::string> texts(vocab.size());
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (!vocab.spellable(id)) continue;
    texts[i] = unescape_rwkv(vocab.texts[i]);
    if (!texts[i].empty()) entries.push_back({texts[i], id});
  }
  trie_ = ByteTrie(std::move(entries));
}

void RwkvEncoder::encode(std::string_view text, EncodeScratch&, std::vector<TokenId>& ids) const {
  for (size_t at = 0; at < text.size();) {
    const ByteTrie::Match match = trie_.longest_prefix(text.substr(at));
    if (match.value >= 0) {
      ids.push_back(match.value);
      at += match.length;
    } else {
      if (unknown_ != kNoToken) ids.push_back(unknown_);
      ++at;
    }
  }
}

}  // namespace quire::tokenizer

// PairFilter: which neighbouring characters occur inside tokens, so that a text can be cut where no token
// reaches.
//
// No merge can join two characters that stand side by side in no token, so cutting between them changes no id
// and keeps the pieces short. A hashed bit set: a false "occurs" only means a longer piece. Filled once, then
// immutable and thread safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/char_length.h"
#include "tokenizer/text_index.h"

namespace quire::tokenizer {

class PairFilter {
 public:
  PairFilter() : words_(kBits / 64) {}

  // Adds every pair of neighbouring characters of a token text.
  void add(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const size_t next = at + char_length(text.substr(at));
      if (next == text.size()) break;
      const size_t end = next + char_length(text.substr(next));
      const std::string_view pair = text.substr(at, end - at);
      const bool ascii =
          end - at == 2 && (static_cast<unsigned char>(pair[0]) | static_cast<unsigned char>(pair[1])) < 128;
      const size_t bit =
          ascii ? ascii_bit(static_cast<unsigned char>(pair[0]), static_cast<unsigned char>(pair[1]))
                : hashed_bit(pair);
      words_[bit / 64] |= uint64_t{1} << (bit % 64);
      at = next;
    }
  }

  // End of the piece of `text` that starts at `begin`: the next place between two characters that no token
  // joins.
  size_t piece_end(std::string_view text, size_t begin) const {
    size_t at = begin + char_length(text.substr(begin));
    for (size_t previous = begin; at < text.size();) {
      const auto left = static_cast<unsigned char>(text[previous]),
                 right = static_cast<unsigned char>(text[at]);
      size_t next = at + 1;
      size_t bit = ascii_bit(left, right);
      if ((left | right) >= 128) {
        next = at + char_length(text.substr(at));
        bit = hashed_bit(text.substr(previous, next - previous));
      }
      if (!test(bit)) break;
      previous = at;
      at = next;
    }
    return at;
  }

 private:
  // ASCII pairs have a bit each; all others share the rest.
  static constexpr size_t kAsciiBits = size_t{128} * 128;
  static constexpr size_t kBits = size_t{1} << 20;
  static size_t ascii_bit(unsigned char left, unsigned char right) { return size_t{left} * 128 + right; }
  // `pair` has 2 to 8 bytes.
  static size_t hashed_bit(std::string_view pair) {
    return kAsciiBits + hash_text(pair) % (kBits - kAsciiBits);
  }
  bool test(size_t bit) const { return (words_[bit / 64] >> (bit % 64) & 1) != 0; }
  std::vector<uint64_t> words_;
};

}  // namespace quire::tokenizer

// Detokenizer: what each token adds to the text.
//
// Pieces are worked out once per vocabulary and kept in one string. Immutable, thread safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocab.h"

namespace quire::tokenizer {

class Detokenizer {
 public:
  explicit Detokenizer(const Vocab& vocab);

  // Bytes of a token as part of ordinary text; empty for control, unknown and unused tokens. Not always whole
  // characters.
  std::string_view text_piece(TokenId id) const {
    const size_t i = static_cast<size_t>(id);
    return std::string_view(bytes_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::string bytes_;
  std::vector<size_t> begins_;  // per token, and one more
};

// Removes the spaces that word-wise tokenizers leave before punctuation and around contractions.
std::string clean_up_spaces(std::string_view text);

}  // namespace quire::tokenizer

// Length of a character by its lead byte alone, as SentencePiece-like tokenizers cut text. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace quire::tokenizer {

// 1 for stray continuation bytes; never past the end of `text`, which is not empty.
inline size_t lead_byte_length(std::string_view text) {
  constexpr unsigned char kLengths[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  return std::min<size_t>(kLengths[static_cast<unsigned char>(text.front()) >> 4], text.size());
}

}  // namespace quire::tokenizer

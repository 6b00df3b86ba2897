// Length of the character at the start of a text, an invalid byte counting as one character. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace quire::tokenizer {

// `text` is not empty.
inline size_t char_length(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 128) return 1;
  return static_cast<size_t>(decode_utf8(text).length);
}

}  // namespace quire::tokenizer

// UTF-8 helpers that never throw and never read past their input. Pure functions, thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quire {

struct Utf8Char {
  char32_t code_point = 0;  // U+FFFD when !valid
  int length = 0;           // bytes consumed: 1 for an invalid byte, 0 at the end of the text
  bool valid = false;
};

// Decodes the character that starts at text[0]; strict: no overlong forms, surrogates or values above
// U+10FFFF.
Utf8Char decode_utf8(std::string_view text);

// Appends the UTF-8 form of `code_point` (must be a Unicode scalar value; anything else appends U+FFFD).
void append_utf8(std::string& out, char32_t code_point);

// Length of the longest prefix of `text` that does not end inside a (so far valid) multi-byte character: what
// a streaming writer may send now. The rest is at most 3 bytes.
size_t complete_utf8_prefix(std::string_view text);

// `text` with every invalid byte replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace quire

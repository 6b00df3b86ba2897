// The GPT-2 byte alphabet: every byte written as one printable character.
//
// Bytes 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF stand for the code point of the same number; the other 68, in
// ascending order, for U+0100, U+0101, ... Source: the GPT-2 encoder. Pure functions, thread safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::tokenizer {

// Text in the alphabet back to bytes; nothing when it has a character that is not in the alphabet.
std::optional<std::string> decode_byte_alphabet(std::string_view text);

}  // namespace quire::tokenizer

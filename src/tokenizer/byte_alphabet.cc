#include "tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace quire::tokenizer {
namespace {

constexpr char32_t kLimit = 0x100 + 68;  // first code point past the alphabet

struct Alphabet {
  std::array<int16_t, kLimit> of_char = {};  // -1: not in the alphabet
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int16_t& b : alphabet.of_char) b = -1;
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    const char32_t c = printable ? static_cast<char32_t>(b) : next++;
    alphabet.of_char[c] = static_cast<int16_t>(b);
  }
  return alphabet;
}
constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::optional<std::string> decode_byte_alphabet(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!c.valid || c.code_point >= kLimit || kAlphabet.of_char[c.code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.of_char[c.code_point]);
    at += static_cast<size_t>(c.length);
  }
  return bytes;
}

}  // namespace quire::tokenizer

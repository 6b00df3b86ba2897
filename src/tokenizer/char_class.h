// Unicode classes of characters, as the pre-tokenizer patterns use them.
//
// One immutable table per process, built on first use from the regular expression library's own properties,
// so that hand-written scanners and compiled patterns can never disagree about a character. Thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace quire::tokenizer {

// A set of the bits below.
using CharClass = uint16_t;
inline constexpr CharClass kUpper = 1 << 0;        // Lu, Lt
inline constexpr CharClass kLower = 1 << 1;        // Ll
inline constexpr CharClass kOtherLetter = 1 << 2;  // Lm, Lo
inline constexpr CharClass kLetter = kUpper | kLower | kOtherLetter;
inline constexpr CharClass kMark = 1 << 3;         // M
inline constexpr CharClass kNonSpacing = 1 << 4;   // Mn
inline constexpr CharClass kNumber = 1 << 5;       // N
inline constexpr CharClass kDecimal = 1 << 6;      // Nd
inline constexpr CharClass kPunctuation = 1 << 7;  // P
inline constexpr CharClass kSymbol = 1 << 8;       // S
inline constexpr CharClass kOther = 1 << 9;        // C: control, format, unassigned, private use, surrogates
inline constexpr CharClass kSpace = 1 << 10;       // White_Space

// The characters of White_Space, in the notation of a character class. (The library's own \s adds U+180E,
// which lost the property in Unicode 6.3.)
inline constexpr std::string_view kSpaceClass =
    R"(\t-\r\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

class CharClasses {
 public:
  static const CharClasses& instance();

  CharClass ascii(unsigned char c) const { return ascii_[c]; }  // c < 128
  CharClass of(char32_t c) const {
    if (c < kDirect) return table_[c];
    if (c >= kVariationBegin && c < kVariationEnd) return kMark | kNonSpacing;  // variation selectors
    return kOther;  // unassigned, tags and private use
  }

 private:
  static constexpr char32_t kDirect = 0x40000;  // planes 0 to 3 hold every other assigned character
  static constexpr char32_t kVariationBegin = 0xE0100, kVariationEnd = 0xE01F0;

  CharClasses();
  std::array<CharClass, 128> ascii_ = {};
  std::vector<CharClass> table_;
};

// The character at text[at] (at < text.size()). An invalid byte counts as one U+FFFD of length 1.
struct ClassedChar {
  char32_t code_point;
  uint32_t length;
  CharClass classes;
};
inline ClassedChar char_at(const CharClasses& classes, std::string_view text, size_t at) {
  const unsigned char lead = static_cast<unsigned char>(text[at]);
  if (lead < 128) return {lead, 1, classes.ascii(lead)};
  const Utf8Char c = decode_utf8(text.substr(at));
  return {c.code_point, static_cast<uint32_t>(c.length), classes.of(c.code_point)};
}

}  // namespace quire::tokenizer

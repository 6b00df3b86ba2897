#include "tokenizer/char_class.h"

#include <string>

#include "tokenizer/regex.h"

namespace quire::tokenizer {
namespace {

struct ClassPattern {
  const char* pattern;
  CharClass bits;
};

}  // namespace

const CharClasses& CharClasses::instance() {
  static const CharClasses classes;
  return classes;
}

CharClasses::CharClasses() : table_(kDirect, CharClass(0)) {
  std::string every_char;
  every_char.reserve(4 * kDirect);
  for (char32_t c = 0; c < kDirect; ++c) {
    if (c >= 0xD800 && c < 0xE000) {
      table_[c] = kOther;
    } else {
      append_utf8(every_char, c);
    }
  }
  const std::string space = "[" + std::string(kSpaceClass) + "]+";
  const ClassPattern patterns[] = {
      {R"([\p{Lu}\p{Lt}]+)", kUpper}, {R"(\p{Ll}+)", kLower},      {R"([\p{Lm}\p{Lo}]+)", kOtherLetter},
      {R"(\p{M}+)", kMark},           {R"(\p{Mn}+)", kNonSpacing}, {R"(\p{N}+)", kNumber},
      {R"(\p{Nd}+)", kDecimal},       {R"(\p{P}+)", kPunctuation}, {R"(\p{S}+)", kSymbol},
      {R"(\p{C}+)", kOther},          {space.c_str(), kSpace},
  };
  RegexScratch scratch;
  for (const ClassPattern& row : patterns) {
    const Regex regex(row.pattern);
    size_t from = 0;
    while (const auto match = regex.find(every_char, from, scratch)) {
      for (size_t at = match->begin; at < match->end;) {
        const Utf8Char c = decode_utf8(std::string_view(every_char).substr(at, 4));
        table_[c.code_point] = static_cast<CharClass>(table_[c.code_point] | row.bits);
        at += static_cast<size_t>(c.length);
      }
      from = match->end;
    }
  }
  for (size_t c = 0; c < 128; ++c) ascii_[c] = table_[c];
}

}  // namespace quire::tokenizer

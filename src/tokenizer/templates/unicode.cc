#include "tokenizer/templates/unicode.h"

#include <utf8proc.h>

#include "base/utf8.h"

namespace quire::jinja {
namespace {

utf8proc_category_t category(char32_t c) {
  return c < kInvalidByte ? utf8proc_category(static_cast<utf8proc_int32_t>(c)) : UTF8PROC_CATEGORY_CN;
}

// Upper forms of more than one character that occur in ordinary text.
const char32_t* long_upper(char32_t c) {
  switch (c) {
    case 0xDF:
      return U"SS";
    case 0x149:
      return U"\u02BCN";
    case 0x1F0:
      return U"J\u030C";
    case 0xFB00:
      return U"FF";
    case 0xFB01:
      return U"FI";
    case 0xFB02:
      return U"FL";
    case 0xFB03:
      return U"FFI";
    case 0xFB04:
      return U"FFL";
    case 0xFB05:
    case 0xFB06:
      return U"ST";
    default:
      return nullptr;
  }
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_alpha(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool is_numeric(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA; }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

std::u32string upper(char32_t c) {
  if (const char32_t* special = long_upper(c)) return special;
  if (c >= kInvalidByte) return std::u32string(1, c);
  return std::u32string(1, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}

std::u32string lower(char32_t c) {
  if (c == 0x130) return U"i\u0307";
  if (c >= kInvalidByte) return std::u32string(1, c);
  return std::u32string(1, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

std::u32string title(char32_t c) {
  if (const char32_t* special = long_upper(c)) {
    std::u32string form = special;
    for (size_t i = 1; i < form.size(); ++i) form[i] = lower(form[i])[0];
    return form;
  }
  if (c >= kInvalidByte) return std::u32string(1, c);
  return std::u32string(1, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
}

Character character_at(std::string_view text, size_t at) {
  const unsigned char first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  const Utf8Char decoded = decode_utf8(text.substr(at));
  if (!decoded.valid) return {kInvalidByte + first, 1};
  return {decoded.code_point, static_cast<size_t>(decoded.length)};
}

Character character_before(std::string_view text, size_t end) {
  // A character has at most three continuation bytes; one that does not reach exactly to `end` is a lone
  // byte.
  for (size_t length = 1; length <= 4 && length <= end; ++length) {
    const unsigned char c = static_cast<unsigned char>(text[end - length]);
    if ((c & 0xC0) == 0x80) continue;
    const Character found = character_at(text, end - length);
    if (found.length == length) return found;
    break;
  }
  return {kInvalidByte + static_cast<unsigned char>(text[end - 1]), 1};
}

size_t leading_space(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_space(c.code_point)) break;
    at += c.length;
  }
  return at;
}

size_t trailing_space(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const Character c = character_before(text, end);
    if (!is_space(c.code_point)) break;
    end -= c.length;
  }
  return text.size() - end;
}

}  // namespace quire::jinja

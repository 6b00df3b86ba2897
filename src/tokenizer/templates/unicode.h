// Character classes and case mapping as Python's str uses them, and a reader of code points.
//
// Pure functions, thread safe. Case mapping is Unicode's simple mapping plus the common one-to-many upper
// forms (sharp s, ligatures); a final sigma follows Python's rule in lower_text.
#pragma once

#include <string>
#include <string_view>

namespace quire::jinja {

bool is_space(char32_t c);       // str.isspace, and \s of the template lexer
bool is_line_break(char32_t c);  // where str.splitlines cuts
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_numeric(char32_t c);  // digits and other numbers
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_cased(char32_t c);
bool is_printable(char32_t c);  // what repr() shows unescaped

// Case forms of one character, up to three code points.
std::u32string upper(char32_t c);
std::u32string lower(char32_t c);
std::u32string title(char32_t c);

// Next character of `text` at `at`; an invalid byte is returned as its value + kInvalidByte, so that it
// survives.
inline constexpr char32_t kInvalidByte = 0x110000;
struct Character {
  char32_t code_point = 0;
  size_t length = 0;
};
Character character_at(std::string_view text, size_t at);
// The character that ends at byte `end` (> 0).
Character character_before(std::string_view text, size_t end);

// Byte length of the leading / trailing whitespace.
size_t leading_space(std::string_view text);
size_t trailing_space(std::string_view text);

}  // namespace quire::jinja

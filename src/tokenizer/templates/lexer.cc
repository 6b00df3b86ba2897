#include "tokenizer/templates/lexer.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/templates/failure.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out.push_back(source[i]);
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_root();
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool starts(std::string_view what, size_t at) const {
    return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(what);
  }
  [[noreturn]] void syntax_error(std::string message) const {
    throw Failure{ErrorCode::kCorrupt, std::move(message), line_};
  }
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, line_, std::move(text)}); }

  // Moves to `position`, counting lines, and remembers whether the passed text ended a line.
  void advance_to(size_t position) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    if (position > at_) line_starting_ = source_[position - 1] == '\n';
    at_ = position;
  }

  // After an end marker at `position`: '-' eats all whitespace, '+' and variables nothing, else one newline
  // goes.
  size_t after_end(size_t position, char sign, bool trim_newline) const {
    if (sign == '-') return position + leading_space(std::string_view(source_).substr(position));
    if (sign != '+' && trim_newline && position < source_.size() && source_[position] == '\n')
      return position + 1;
    return position;
  }

  // Text before a tag: '-' strips whitespace back, '+' keeps it; otherwise a block's or comment's own
  // indentation goes.
  void add_data(size_t begin, size_t end, char sign, bool lstrip) {
    std::string_view text = std::string_view(source_).substr(begin, end - begin);
    if (sign == '-') {
      text.remove_suffix(trailing_space(text));
    } else if (sign != '+' && lstrip) {
      const size_t newline = text.rfind('\n');
      const size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
      const std::string_view indent = text.substr(line_begin);
      if ((line_begin > 0 || line_starting_) && leading_space(indent) == indent.size())
        text = text.substr(0, line_begin);
    }
    if (!text.empty()) add(TokenKind::kData, std::string(text));
  }

  // Reads data up to the next tag and the tag itself.
  void read_root() {
    size_t tag = at_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        add(TokenKind::kData, std::string(rest()));
        advance_to(source_.size());
        return;
      }
      const char next = source_[tag + 1];
      if (next == '%' || next == '{' || next == '#') break;
    }
    const char kind = source_[tag + 1];
    size_t inside = tag + 2;
    char sign = '\0';
    if (inside < source_.size() && (source_[inside] == '-' || source_[inside] == '+'))
      sign = source_[inside++];
    add_data(at_, tag, sign, kind != '{');
    advance_to(tag);
    if (kind == '#') return read_comment(inside);
    if (kind == '%') {
      if (const size_t raw_begin = match_raw(inside); raw_begin != std::string::npos)
        return read_raw(raw_begin);
    }
    add(kind == '%' ? TokenKind::kBlockBegin : TokenKind::kVariableBegin, "");
    advance_to(inside);
    read_code(kind == '%' ? '%' : '}');
  }

  void read_comment(size_t inside) {
    const size_t end = source_.find("#}", inside);
    if (end == std::string::npos) syntax_error("missing end of comment tag");
    const char sign = end > inside ? source_[end - 1] : '\0';
    advance_to(after_end(end + 2, sign, true));
  }

  // Position after "raw %}" (or "raw -%}" and its whitespace) when that is what follows, else npos.
  size_t match_raw(size_t inside) const {
    const std::string_view text(source_);
    size_t at = inside + leading_space(text.substr(inside));
    if (!starts("raw", at)) return std::string::npos;
    at += 3;
    at += leading_space(text.substr(at));
    if (starts("-%}", at)) return at + 3 + leading_space(text.substr(at + 3));
    if (starts("%}", at)) return at + 2;
    return std::string::npos;
  }

  void read_raw(size_t begin) {
    advance_to(begin);
    const std::string_view text(source_);
    for (size_t tag = text.find("{%", begin); tag != std::string_view::npos; tag = text.find("{%", tag + 2)) {
      size_t at = tag + 2;
      char sign = '\0';
      if (starts("-", at) || starts("+", at)) sign = source_[at++];
      at += leading_space(text.substr(at));
      if (!starts("endraw", at)) continue;
      at += 6;
      at += leading_space(text.substr(at));
      char end_sign = '\0';
      if (starts("-%}", at) || starts("+%}", at)) end_sign = source_[at++];
      if (!starts("%}", at)) continue;
      add_data(begin, tag, sign, true);
      advance_to(after_end(at + 2, end_sign, true));
      return;
    }
    syntax_error("missing end of raw directive");
  }

  // Tokens inside a tag, up to its end marker ("%}" or "}}") outside of brackets.
  void read_code(char close) {
    const TokenKind end_kind = close == '%' ? TokenKind::kBlockEnd : TokenKind::kVariableEnd;
    const std::string end_mark = std::string(1, close) + "}";
    std::string brackets;
    for (;;) {
      if (at_ >= source_.size()) return;  // the parser reports the missing end
      if (brackets.empty()) {
        const char c = source_[at_];
        const bool signed_end = (c == '-' || (c == '+' && close == '%')) && starts(end_mark, at_ + 1);
        if (signed_end || starts(end_mark, at_)) {
          add(end_kind, "");
          advance_to(after_end(at_ + (signed_end ? 3 : 2), signed_end ? c : '\0', close == '%'));
          return;
        }
      }
      read_token(brackets);
    }
  }

  void read_token(std::string& brackets) {
    if (const size_t space = leading_space(rest())) return advance_to(at_ + space);
    const char c = source_[at_];
    if (is_digit(c)) return read_number();
    if (is_name_start(c)) {
      size_t end = at_;
      while (end < source_.size() && is_name_char(source_[end])) ++end;
      add(TokenKind::kName, source_.substr(at_, end - at_));
      return advance_to(end);
    }
    if (c == '\'' || c == '"') return read_string(c);
    static constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
    for (std::string_view two : kTwo) {
      if (rest().starts_with(two)) {
        add(TokenKind::kOperator, std::string(two));
        return advance_to(at_ + 2);
      }
    }
    static constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
    if (kOne.find(c) == std::string_view::npos) {
      const Character shown = character_at(source_, at_);
      syntax_error(fmt::format("unexpected character '{}'", source_.substr(at_, shown.length)));
    }
    if (c == '(' || c == '[' || c == '{') brackets.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty()) syntax_error(fmt::format("unexpected '{}'", c));
      if (brackets.back() != c)
        syntax_error(fmt::format("unexpected '{}', expected '{}'", c, brackets.back()));
      brackets.pop_back();
    }
    add(TokenKind::kOperator, std::string(1, c));
    advance_to(at_ + 1);
  }

  // Digits of `digit` with single underscores between them; the end position, or `at` when there are none.
  template <typename IsDigit>
  size_t digits(size_t at, IsDigit is, bool may_lead_with_underscore) const {
    const size_t begin = at;
    for (;;) {
      size_t next = at;
      if ((at > begin || may_lead_with_underscore) && next < source_.size() && source_[next] == '_') ++next;
      if (next >= source_.size() || !is(source_[next])) return at;
      at = next + 1;
    }
  }

  void read_number() {
    const size_t begin = at_;
    const auto without_underscores = [&](size_t end) {
      std::string text = source_.substr(begin, end - begin);
      text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
      return text;
    };
    // A float needs a fraction or an exponent, and may not follow a dot (`x.1.5` is two subscripts).
    size_t end = digits(begin, is_digit, false);
    bool is_float = false;
    if (begin == 0 || source_[begin - 1] != '.') {
      if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
        end = digits(end + 1, is_digit, false);
        is_float = true;
      }
      if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
        size_t exponent = end + 1;
        if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) ++exponent;
        if (const size_t exponent_end = digits(exponent, is_digit, false); exponent_end > exponent) {
          end = exponent_end;
          is_float = true;
        }
      }
    }
    if (is_float) {
      add(TokenKind::kFloat, without_underscores(end));
      return advance_to(end);
    }
    if (source_[begin] == '0') {
      const char base = begin + 1 < source_.size() ? static_cast<char>(source_[begin + 1] | 0x20) : '\0';
      const auto in_base = [base](char c) {
        if (base == 'b') return c == '0' || c == '1';
        if (base == 'o') return c >= '0' && c <= '7';
        return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
      };
      if (base == 'b' || base == 'o' || base == 'x') {
        if (const size_t stop = digits(begin + 2, in_base, true); stop > begin + 2) {
          add(TokenKind::kInteger, without_underscores(stop));
          return advance_to(stop);
        }
      }
      end = digits(
          begin, [](char c) { return c == '0'; }, false);
    }
    add(TokenKind::kInteger, without_underscores(end));
    advance_to(end);
  }

  void read_string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size())
      syntax_error(fmt::format("unexpected character '{}' (string without end)", quote));
    add(TokenKind::kString, unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
    advance_to(end + 1);
  }

  // Python's "unicode-escape" over the literal.
  std::string unescape(std::string_view body) const {
    std::string out;
    out.reserve(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      if (body[i] != '\\') {
        out.push_back(body[i]);
        continue;
      }
      const char c = body[++i];
      switch (c) {
        case '\n':
          break;
        case '\\':
        case '\'':
        case '"':
          out.push_back(c);
          break;
        case 'a':
          out.push_back('\a');
          break;
        case 'b':
          out.push_back('\b');
          break;
        case 'f':
          out.push_back('\f');
          break;
        case 'n':
          out.push_back('\n');
          break;
        case 'r':
          out.push_back('\r');
          break;
        case 't':
          out.push_back('\t');
          break;
        case 'v':
          out.push_back('\v');
          break;
        case 'x':
          i = unescape_hex(body, i, 2, out);
          break;
        case 'u':
          i = unescape_hex(body, i, 4, out);
          break;
        case 'U':
          i = unescape_hex(body, i, 8, out);
          break;
        case 'N':
          throw Failure{ErrorCode::kUnsupported, "\\N{...} escapes are not supported", line_};
        default:
          if (c >= '0' && c <= '7') {
            uint32_t value = 0;
            size_t n = 0;
            for (; n < 3 && i + n < body.size() && body[i + n] >= '0' && body[i + n] <= '7'; ++n) {
              value = value * 8 + static_cast<uint32_t>(body[i + n] - '0');
            }
            append_utf8(out, value);
            i += n - 1;
          } else {
            // Python escapes what is not ASCII before it reads escapes, so a backslash before such a
            // character leaves the backslash and the hexadecimal name of the character.
            out.push_back('\\');
            if (static_cast<unsigned char>(c) < 0x80) {
              out.push_back(c);
            } else {
              const Character shown = character_at(body, i);
              const auto value = static_cast<uint32_t>(shown.code_point);
              out += value < 0x100     ? fmt::format("x{:02x}", value)
                     : value < 0x10000 ? fmt::format("u{:04x}", value)
                                       : fmt::format("U{:08x}", value);
              i += shown.length - 1;
            }
          }
      }
    }
    return out;
  }

  // body[i] is the letter; reads `n` hexadecimal digits and returns the index of the last one.
  size_t unescape_hex(std::string_view body, size_t i, size_t n, std::string& out) const {
    uint32_t value = 0;
    for (size_t k = 1; k <= n; ++k) {
      const char c = i + k < body.size() ? body[i + k] : '\0';
      const int digit = is_digit(c)                              ? c - '0'
                        : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                 : -1;
      if (digit < 0) syntax_error(fmt::format("truncated \\{} escape", body[i]));
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      syntax_error(fmt::format("\\{} escape is no character", body[i]));
    }
    append_utf8(out, value);
    return i + n;
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace quire::jinja

#include "gguf/printable.h"

#include <fmt/format.h>

#include <iterator>

#include "base/utf8.h"

namespace quire {
namespace {

// Characters that move the cursor, start an escape sequence, break the line or reorder what is shown.
bool is_unsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

void append_escape(std::string& out, char32_t c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<uint32_t>(c);
  out += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(i));
    const auto length = static_cast<size_t>(c.length);
    if (i + length > max_bytes) return out + "...";
    if (!c.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[i]));
    } else if (is_unsafe(c.code_point)) {
      append_escape(out, c.code_point);
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace quire

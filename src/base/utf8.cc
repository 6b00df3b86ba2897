#include "base/utf8.h"

#include <algorithm>

namespace quire {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// What the first byte of a character promises (Unicode standard, table 3-7): how many bytes follow in all,
// its payload bits, and the range of the second byte, which is where overlong forms, surrogates and values
// above U+10FFFF are excluded.
struct Lead {
  int length;  // 0: not a first byte
  unsigned payload;
  unsigned second_min;
  unsigned second_max;
};

Lead classify(unsigned char byte) {
  const unsigned b = byte;
  if (b < 0x80) return {1, b, 0, 0};
  if (b < 0xC2) return {0, 0, 0, 0};
  if (b < 0xE0) return {2, b & 0x1F, 0x80, 0xBF};
  if (b < 0xF0) return {3, b & 0x0F, b == 0xE0 ? 0xA0u : 0x80u, b == 0xED ? 0x9Fu : 0xBFu};
  if (b < 0xF5) return {4, b & 0x07, b == 0xF0 ? 0x90u : 0x80u, b == 0xF4 ? 0x8Fu : 0xBFu};
  return {0, 0, 0, 0};
}

unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// How many bytes of `text` fit the character that its first byte starts: lead.length when it is whole.
int matching_bytes(std::string_view text, const Lead& lead) {
  const int available = static_cast<int>(std::min(text.size(), static_cast<size_t>(lead.length)));
  for (int i = 1; i < available; ++i) {
    const unsigned b = byte_at(text, static_cast<size_t>(i));
    const unsigned low = i == 1 ? lead.second_min : 0x80;
    const unsigned high = i == 1 ? lead.second_max : 0xBF;
    if (b < low || b > high) return i;
  }
  return available;
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  if (text.empty()) return {0, 0, false};
  const Lead lead = classify(static_cast<unsigned char>(text[0]));
  if (lead.length == 0 || matching_bytes(text, lead) != lead.length) return {kReplacement, 1, false};
  char32_t code_point = lead.payload;
  for (int i = 1; i < lead.length; ++i) {
    code_point = (code_point << 6) | (byte_at(text, static_cast<size_t>(i)) & 0x3F);
  }
  return {code_point, lead.length, true};
}

void append_utf8(std::string& out, char32_t code_point) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = kReplacement;
  const auto push = [&out](char32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | (code_point >> 6));
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | (code_point >> 12));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | (code_point >> 18));
    push(0x80 | ((code_point >> 12) & 0x3F));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

size_t complete_utf8_prefix(std::string_view text) {
  const size_t longest_tail = std::min<size_t>(3, text.size());
  for (size_t tail = 1; tail <= longest_tail; ++tail) {
    const size_t start = text.size() - tail;
    if ((byte_at(text, start) & 0xC0) == 0x80) continue;
    const Lead lead = classify(static_cast<unsigned char>(text[start]));
    const bool open = lead.length > static_cast<int>(tail) &&
                      matching_bytes(text.substr(start), lead) == static_cast<int>(tail);
    return open ? start : text.size();
  }
  return text.size();
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.valid) {
      out.append(text.substr(0, static_cast<size_t>(c.length)));
    } else {
      append_utf8(out, kReplacement);
    }
    text.remove_prefix(static_cast<size_t>(c.length));
  }
  return out;
}

}  // namespace quire

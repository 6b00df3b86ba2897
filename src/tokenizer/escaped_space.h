// U+2581 (lower one eighth block), which SentencePiece-like vocabularies write for a space. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace quire::tokenizer {

inline constexpr std::string_view kEscapedSpace = "\xE2\x96\x81";

// Appends `text` with every space escaped.
inline void append_escaped(std::string& out, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t space = text.find(' ', at);
    if (space == std::string_view::npos) space = text.size();
    out.append(text.substr(at, space - at));
    if (space < text.size()) out.append(kEscapedSpace);
    at = space + 1;
  }
}

// `text` with every escaped space turned back.
inline std::string unescape_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(kEscapedSpace)) {
      out += ' ';
      at += kEscapedSpace.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace quire::tokenizer

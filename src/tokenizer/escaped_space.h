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

// True when an escaped space follows something else in `text`: a merge that makes it crosses a word border.
inline bool crosses_word_border(std::string_view text) {
  for (size_t at = text.find(kEscapedSpace); at != std::string_view::npos;
       at = text.find(kEscapedSpace, at + 1)) {
    if (at > 0 && !text.substr(0, at).ends_with(kEscapedSpace)) return true;
  }
  return false;
}

// End of the word at `begin`: before the next escaped space that follows something else.
inline size_t escaped_word_end(std::string_view text, size_t begin) {
  size_t at = begin;
  while (text.substr(at).starts_with(kEscapedSpace)) at += kEscapedSpace.size();
  at = text.find(kEscapedSpace, at);
  return at == std::string_view::npos ? text.size() : at;
}

}  // namespace quire::tokenizer

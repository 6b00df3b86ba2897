#include "cli/chat/text_width.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace quire::cli {
namespace {

constexpr char32_t kEmojiPresentation = 0xFE0F;

bool is_line_break(std::string_view text, size_t at) { return text[at] == '\n'; }

}  // namespace

size_t next_cluster(std::string_view text, size_t begin) {
  if (begin >= text.size()) return text.size();
  Utf8Char current = decode_utf8(text.substr(begin));
  size_t end = begin + static_cast<size_t>(current.length);
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    const Utf8Char next = decode_utf8(text.substr(end));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(current.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state))
      break;
    end += static_cast<size_t>(next.length);
    current = next;
  }
  return end;
}

size_t previous_cluster(std::string_view text, size_t end) {
  if (end == 0) return 0;
  // A line break always ends a cluster, so boundaries need not be sought from further back than the line.
  size_t begin = end - 1;
  while (begin > 0 && !is_line_break(text, begin - 1) && !is_line_break(text, begin)) --begin;
  while (true) {
    const size_t next = next_cluster(text, begin);
    if (next >= end) return begin;
    begin = next;
  }
}

size_t cluster_width(std::string_view cluster) {
  if (cluster == "\n") return 0;
  if (cluster == "\t") return kTabWidth;
  size_t width = 0;
  for (size_t i = 0; i < cluster.size();) {
    const Utf8Char decoded = decode_utf8(cluster.substr(i));
    i += static_cast<size_t>(decoded.length);
    if (decoded.code_point == kEmojiPresentation) return 2;
    const int columns = utf8proc_charwidth(static_cast<utf8proc_int32_t>(decoded.code_point));
    width = std::max(width, static_cast<size_t>(std::max(columns, 0)));
  }
  return width;
}

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = next_cluster(text, begin);
    width += cluster_width(text.substr(begin, end - begin));
    begin = end;
  }
  return width;
}

}  // namespace quire::cli

// Grapheme clusters and their width on a terminal: what a cursor steps over and by how much.
//
// Boundaries as in Unicode UAX #29. Widths are those terminals use: 2 for wide East Asian characters and
// emoji, 0 for combining marks. Text is valid UTF-8. Pure functions, thread safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace quire::cli {

// Columns of a tab inside a line that is edited; tab stops are not followed.
inline constexpr size_t kTabWidth = 4;

// Byte offset of the end of the cluster that starts at `begin`; text.size() at the end.
size_t next_cluster(std::string_view text, size_t begin);
// Byte offset of the start of the cluster before `end`; 0 at the start.
size_t previous_cluster(std::string_view text, size_t end);
// Columns of one cluster. A line break has none.
size_t cluster_width(std::string_view cluster);
// Columns of a text on one line.
size_t text_width(std::string_view text);

}  // namespace quire::cli

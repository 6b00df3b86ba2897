// printable(): text from a file made safe to show on one line of a terminal or in an error message.
//
// Pure function, thread safe.
#pragma once

#include <string>
#include <string_view>

namespace quire {

// `text` with control characters, direction overrides and invalid UTF-8 written as escapes (\n, \x1b,
// \u202e). Longer than `max_bytes` it is cut at a character and ends in "...".
std::string printable(std::string_view text, size_t max_bytes = 80);

}  // namespace quire

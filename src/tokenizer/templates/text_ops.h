// Python's str operations on Text, shared by string methods and filters. Every byte keeps its origin.
//
// Free functions; results live in the Heap given. Positions and widths are in characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/templates/object.h"

namespace quire::jinja {

enum class LetterCase : uint8_t { kUpper, kLower, kTitle, kCapitalize, kSwap, kFold };
Val change_case(Heap& heap, const Text& text, LetterCase letter_case);

enum class Side : uint8_t { kBoth, kLeft, kRight };
// Strips whitespace, or any of the characters in `characters`.
Val strip(Heap& heap, const Text& text, Side side, const Text* characters);

Val replace(Heap& heap, const Text& text, const Text& old_part, const Text& new_part, int64_t count);

// str.split / str.rsplit; null separator: runs of whitespace. max_splits < 0: no limit.
std::vector<Val> split(Heap& heap, const Text& text, const Text* separator, int64_t max_splits);
std::vector<Val> split_from_right(Heap& heap, const Text& text, const Text* separator, int64_t max_splits);
enum class LineEnds { kDrop, kKeep };
std::vector<Val> split_lines(Heap& heap, const Text& text, LineEnds ends);

Val join(Heap& heap, const Text& separator, const std::vector<Val>& items);

// Pads to `width` characters with `fill`.
Val justify(Heap& heap, const Text& text, int64_t width, std::string_view fill, Side padded_side);

}  // namespace quire::jinja

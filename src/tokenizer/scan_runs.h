// Scanners for patterns about runs of one kind: digits, lines, trailing white space.
//
// Internal to the pre-tokenizers; see scanners.h for the contract. Pure functions, thread safe.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "tokenizer/char_class.h"

namespace quire::tokenizer {

// \p{N}{1,max}
void scan_digit_groups(size_t max, std::string_view text, size_t base, std::vector<size_t>& ends);
// \p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})): every run of numbers in threes, counted from its right end.
void scan_numbers_from_right(std::string_view text, size_t base, std::vector<size_t>& ends);
// \d{1,3}(?=(?:\d{3})*\b): the same for decimal digits, only where a word border follows the run.
void scan_digits_from_right_at_border(std::string_view text, size_t base, std::vector<size_t>& ends);
// (?=(\d{3})+(?!\d)): cuts, without matching, where a multiple of three digits is left in the run.
void scan_digit_cuts_from_right(std::string_view text, size_t base, std::vector<size_t>& ends);
// [^\n]+|[\n]+
void scan_lines(std::string_view text, size_t base, std::vector<size_t>& ends);
// \s+$: white space that reaches the end of the text.
void scan_trailing_space(std::string_view text, size_t base, std::vector<size_t>& ends);

// A set of characters: by class, by range of code points, or both.
struct CharSet {
  struct Range {
    char32_t first, last;
  };
  CharClass classes = 0;
  std::vector<Range> ranges = {};  // ascending

  bool contains(const ClassedChar& c) const {
    if ((c.classes & classes) != 0) return true;
    for (const Range& range : ranges) {
      if (c.code_point < range.first) return false;
      if (c.code_point <= range.last) return true;
    }
    return false;
  }
};
enum class SpaceBefore { kNo, kOptional };
// [set]{1,max}, or \s?[set]{1,max}
void scan_set(const CharSet& set, size_t max, SpaceBefore space, std::string_view text, size_t base,
              std::vector<size_t>& ends);

}  // namespace quire::tokenizer

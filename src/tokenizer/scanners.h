// Hand-written equivalents of the common pre-tokenizer patterns: faster than the compiled pattern, and linear
// where the pattern as written would look ahead over and over.
//
// A scanner gives exactly the pieces that its pattern gives (tests compare the two on random text). Pure
// functions, thread safe. Invalid bytes count as U+FFFD, one each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::tokenizer {

// Appends the ends of the pieces of `text`, each plus `base`.
using Scanner = std::function<void(std::string_view text, size_t base, std::vector<size_t>& ends)>;

struct NativeScanner {
  std::string pattern;  // as written in the table of pre-tokenizers
  Scanner scan;
};

// Every scanner there is.
std::span<const NativeScanner> native_scanners();

// The scanner of `pattern`, or null.
const Scanner* find_native_scanner(std::string_view pattern);

}  // namespace quire::tokenizer

#include "tokenizer/scanners.h"

#include <algorithm>
#include <utility>

#include "tokenizer/patterns.h"
#include "tokenizer/scan_runs.h"
#include "tokenizer/scan_words.h"

namespace quire::tokenizer {
namespace {

Scanner words(const WordRules& rules) {
  return [rules](std::string_view text, size_t base, std::vector<size_t>& ends) {
    scan_words(rules, text, base, ends);
  };
}

Scanner digit_groups(size_t max) {
  return [max](std::string_view text, size_t base, std::vector<size_t>& ends) {
    scan_digit_groups(max, text, base, ends);
  };
}

Scanner set_runs(CharSet set, SpaceBefore space = SpaceBefore::kNo, size_t max = SIZE_MAX) {
  return [set = std::move(set), space, max](std::string_view text, size_t base, std::vector<size_t>& ends) {
    scan_set(set, max, space, text, base, ends);
  };
}

std::vector<NativeScanner> make_scanners() {
  using enum PunctuationTail;
  return {
      {patterns::kGpt2, scan_gpt2},
      {patterns::kLlama3, words({.max_digits = 3})},
      {patterns::kQwen2, words({})},
      {patterns::kQwen2NoContraction, words({.contractions = Contractions::kNone})},
      {patterns::kQwen2LongNumbers, words({.max_digits = SIZE_MAX})},
      {patterns::kQwen35, words({.shape = WordShape::kLettersAndMarks})},
      {patterns::kSeedCoder, words({.tail = kNone})},
      {patterns::kBailing, words({})},
      {patterns::kGpt4o, words({.shape = WordShape::kCamel, .max_digits = 3, .tail = kLineEndsAndSlashes})},
      {patterns::kGpt4oSingleDigits, words({.shape = WordShape::kCamel, .tail = kLineEndsAndSlashes})},
      {patterns::kTekken,
       words({.contractions = Contractions::kNone, .shape = WordShape::kCamel, .tail = kLineEndsAndSlashes})},
      {patterns::kOneDigit, digit_groups(1)},
      {patterns::kThreeDigits, digit_groups(3)},
      {patterns::kDigits, digit_groups(SIZE_MAX)},
      {patterns::kNumbersFromRight, scan_numbers_from_right},
      {patterns::kDigitsFromRightAtBorder, scan_digits_from_right_at_border},
      {patterns::kDigitCutsFromRight, scan_digit_cuts_from_right},
      {patterns::kLines, scan_lines},
      {patterns::kTrailingSpace, scan_trailing_space},
      {patterns::kDeepseekV3, scan_deepseek_v3},
      {patterns::kLineEnd, set_runs({.ranges = {{'\n', '\n'}, {'\r', '\r'}}}, SpaceBefore::kNo, 1)},
      {patterns::kSpacedLetters, set_runs({.classes = kLetter}, SpaceBefore::kOptional)},
      {patterns::kSpacedPunctuation, set_runs({.classes = kPunctuation}, SpaceBefore::kOptional)},
      {patterns::kDeepseekCjk, set_runs({.ranges = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}}})},
      {patterns::kHanKana, set_runs({.ranges = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}}})},
      {patterns::kFalconPunctuation,
       set_runs(
           {.classes = kPunctuation,
            .ranges = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'}, {'`', '`'}, {'|', '|'}, {'~', '~'}}})},
      {patterns::kDefaultPunctuation,
       set_runs({.classes = kPunctuation,
                 .ranges = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'}, {'|', '|'}, {'~', '~'}}})},
  };
}

}  // namespace

std::span<const NativeScanner> native_scanners() {
  static const std::vector<NativeScanner> scanners = make_scanners();
  return scanners;
}

const Scanner* find_native_scanner(std::string_view pattern) {
  const auto all = native_scanners();
  const auto it = std::ranges::find(all, pattern, &NativeScanner::pattern);
  return it == all.end() ? nullptr : &it->scan;
}

}  // namespace quire::tokenizer

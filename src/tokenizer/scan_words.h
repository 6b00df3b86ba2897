// Scanners for the two big families of word patterns: the GPT-2 one and its caseless descendants.
//
// Internal to the pre-tokenizers; see scanners.h for the contract. Pure functions, thread safe.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/char_class.h"

namespace quire::tokenizer {

enum class Contractions { kNone, kCaseless };
enum class WordShape {
  kLetters,          // [^\r\n\p{L}\p{N}]?\p{L}+
  kLettersAndMarks,  // [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+
  kCamel,            // capitals then small letters, contraction attached
};
enum class PunctuationTail { kNone, kLineEnds, kLineEndsAndSlashes };

// What sets the members of the family apart. Text is cut, in this order of preference, at: contraction, word,
// up to `max_digits` numbers, punctuation with one space before it, white space.
struct WordRules {
  Contractions contractions = Contractions::kCaseless;
  WordShape shape = WordShape::kLetters;
  size_t max_digits = 1;
  PunctuationTail tail = PunctuationTail::kLineEnds;
};

void scan_words(const WordRules& rules, std::string_view text, size_t base, std::vector<size_t>& ends);
void scan_gpt2(std::string_view text, size_t base, std::vector<size_t>& ends);

// The DeepSeek-V3 pattern: ASCII punctuation with the Latin letters after it, words of letters and marks,
// punctuation and symbols, white space; numbers are left out.
void scan_deepseek_v3(std::string_view text, size_t base, std::vector<size_t>& ends);

}  // namespace quire::tokenizer

#include "tokenizer/scan_words.h"

#include "tokenizer/piece_sink.h"
#include "tokenizer/text_cursor.h"

namespace quire::tokenizer {
namespace {

constexpr CharClass kWordOrSpace = kLetter | kNumber | kSpace;

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Length of 's 't 're 've 'm 'll 'd at `at` (a quote), 0 when there is none.
size_t contraction_length(const TextCursor& text, size_t at) {
  const char a = text.byte(at + 1), b = text.byte(at + 2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  return 0;
}

// The same in any case; the long s (U+017F) folds to s.
size_t caseless_contraction_length(const TextCursor& text, size_t at) {
  const char a = to_lower(text.byte(at + 1)), b = to_lower(text.byte(at + 2));
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  if (text.byte(at + 1) == '\xC5' && text.byte(at + 2) == '\xBF') return 3;
  return 0;
}

// A run of white space and what the patterns need to know about it.
struct SpaceRun {
  size_t end;
  size_t last_char;      // start of its last character
  size_t after_newline;  // end of its last line end, or 0
};
SpaceRun space_run(const TextCursor& text, size_t at) {
  SpaceRun run{at, at, 0};
  while (run.end < text.size()) {
    const ClassedChar c = text.at(run.end);
    if ((c.classes & kSpace) == 0) break;
    run.last_char = run.end;
    run.end += c.length;
    if (c.code_point == '\n' || c.code_point == '\r') run.after_newline = run.end;
  }
  return run;
}

// End of "\s*[\r\n]+|\s+(?!\S)|\s+" at a white space character.
size_t white_space_end(const TextCursor& text, size_t at) {
  const SpaceRun run = space_run(text, at);
  if (run.after_newline != 0) return run.after_newline;
  if (run.end == text.size() || run.last_char == at) return run.end;
  return run.last_char;
}

// "A*B+" from `at`, where A is a capital, other letter or mark and B a small letter, other letter or mark.
// Returns `at` when it does not match. A capital run without a small letter after it gives characters back up
// to the last one that is in both classes.
size_t camel_end(const TextCursor& text, size_t at) {
  size_t pos = at;
  size_t last_both_end = at;
  while (pos < text.size()) {
    const ClassedChar c = text.at(pos);
    if ((c.classes & (kUpper | kOtherLetter | kMark)) == 0) break;
    pos += c.length;
    if ((c.classes & (kOtherLetter | kMark)) != 0) last_both_end = pos;
  }
  const size_t end = text.skip(pos, kLower | kOtherLetter | kMark);
  return end > pos ? end : last_both_end;
}

// "A+B*" from `at`, or `at`.
size_t camel_capitals_end(const TextCursor& text, size_t at) {
  const size_t pos = text.skip(at, kUpper | kOtherLetter | kMark);
  return pos == at ? at : text.skip(pos, kLower | kOtherLetter | kMark);
}

// End of the camel-case word at `at` (character `first`) with its contraction, or `at`.
size_t camel_word_end(const WordRules& rules, const TextCursor& text, size_t at, const ClassedChar& first) {
  const bool may_prefix =
      (first.classes & (kLetter | kNumber)) == 0 && first.code_point != '\r' && first.code_point != '\n';
  const size_t after_prefix = at + first.length;
  size_t end = at;
  for (auto* matcher : {&camel_end, &camel_capitals_end}) {
    if (may_prefix) {
      const size_t prefixed = matcher(text, after_prefix);
      if (prefixed > after_prefix) {
        end = prefixed;
        break;
      }
    }
    end = matcher(text, at);
    if (end > at) break;
  }
  if (end > at && rules.contractions == Contractions::kCaseless && text.byte(end) == '\'') {
    end += caseless_contraction_length(text, end);
  }
  return end;
}

size_t letters_word_end(CharClass letters, const TextCursor& text, size_t at, const ClassedChar& first) {
  if ((first.classes & letters) != 0) return text.skip(at + first.length, letters);
  if ((first.classes & kNumber) != 0 || first.code_point == '\r' || first.code_point == '\n') return at;
  const size_t end = text.skip(at + first.length, letters);
  return end > at + first.length ? end : at;
}

size_t punctuation_tail_end(PunctuationTail tail, const TextCursor& text, size_t at) {
  if (tail == PunctuationTail::kNone) return at;
  while (is_line_end(text.byte(at)) || (tail == PunctuationTail::kLineEndsAndSlashes && text.byte(at) == '/'))
    ++at;
  return at;
}

}  // namespace

void scan_words(const WordRules& rules, std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  const bool camel = rules.shape == WordShape::kCamel;
  const CharClass letters = rules.shape == WordShape::kLettersAndMarks ? kLetter | kMark : kLetter;
  const CharClass not_punctuation =
      rules.shape == WordShape::kLettersAndMarks ? CharClass(kWordOrSpace | kMark) : kWordOrSpace;
  size_t at = 0;
  while (at < text.size()) {
    const ClassedChar first = text.at(at);
    size_t end = at;
    if (first.code_point == '\'' && !camel && rules.contractions == Contractions::kCaseless) {
      end += caseless_contraction_length(text, at);
    }
    if (end == at) {
      end = camel ? camel_word_end(rules, text, at, first) : letters_word_end(letters, text, at, first);
    }
    if (end == at && (first.classes & kNumber) != 0) {
      end = text.skip_up_to(at, kNumber, rules.max_digits);
    }
    if (end == at) {
      const size_t begin = first.code_point == ' ' ? at + 1 : at;
      const size_t run = text.skip_none_of(begin, not_punctuation);
      if (run > begin) end = punctuation_tail_end(rules.tail, text, run);
    }
    if (end == at && (first.classes & kSpace) != 0) end = white_space_end(text, at);
    if (end > at) sink.match(at, end);
    at = end > at ? end : at + first.length;
  }
  sink.finish(text.size());
}

void scan_gpt2(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  size_t at = 0;
  while (at < text.size()) {
    const ClassedChar first = text.at(at);
    size_t end = at;
    if (first.code_point == '\'') end += contraction_length(text, at);
    if (end == at) {
      // An optional space, then a run of one kind.
      const size_t begin = first.code_point == ' ' ? at + 1 : at;
      const CharClass kind = begin == at ? first.classes : text.classes_at(begin);
      if ((kind & kLetter) != 0) {
        end = text.skip(begin, kLetter);
      } else if ((kind & kNumber) != 0) {
        end = text.skip(begin, kNumber);
      } else if (begin < text.size() && (kind & kSpace) == 0) {
        end = text.skip_none_of(begin, kWordOrSpace);
      }
    }
    if (end == at) {
      // \s+(?!\S): the last white space before a word is left out, and with a run of one nothing matches.
      const SpaceRun run = space_run(text, at);
      if (run.end == text.size()) {
        end = run.end;
      } else if (run.last_char > at) {
        end = run.last_char;
      } else {
        at = run.end;  // a gap of one character
        continue;
      }
    }
    sink.match(at, end);
    at = end;
  }
  sink.finish(text.size());
}

void scan_deepseek_v3(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  constexpr CharClass kWordChar = kLetter | kMark;
  constexpr CharClass kSign = kPunctuation | kSymbol;
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  const auto is_latin = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (size_t at = 0; at < text.size();) {
    const ClassedChar first = text.at(at);
    size_t end = at;
    if (first.code_point < 128 && (first.classes & kSign) != 0 && is_latin(text.byte(at + 1))) {
      end = at + 1;
      while (is_latin(text.byte(end))) ++end;
    }
    if (end == at) {
      const bool may_prefix =
          (first.classes & (kLetter | kSign)) == 0 && first.code_point != '\r' && first.code_point != '\n';
      const size_t begin = may_prefix ? at + first.length : at;
      const size_t run = text.skip(begin, kWordChar);
      if (run > begin) {
        end = run;
      } else if ((first.classes & kWordChar) != 0) {
        end = text.skip(at, kWordChar);
      }
    }
    if (end == at) {
      const size_t begin = first.code_point == ' ' ? at + 1 : at;
      const size_t run = text.skip(begin, kSign);
      if (run > begin) end = punctuation_tail_end(PunctuationTail::kLineEnds, text, run);
    }
    if (end == at && (first.classes & kSpace) != 0) end = white_space_end(text, at);
    if (end > at) sink.match(at, end);
    at = end > at ? end : at + first.length;
  }
  sink.finish(text.size());
}

}  // namespace quire::tokenizer

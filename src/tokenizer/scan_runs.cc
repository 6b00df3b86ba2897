#include "tokenizer/scan_runs.h"

#include "tokenizer/piece_sink.h"
#include "tokenizer/text_cursor.h"

namespace quire::tokenizer {
namespace {

struct Run {
  size_t begin;
  size_t end;
  size_t characters;
};

// The next run of `classes` at or after `at`; empty at the end of the text when there is none.
Run next_run(const TextCursor& text, size_t at, CharClass classes) {
  Run run{text.skip_none_of(at, classes), 0, 0};
  run.end = run.begin;
  while (run.end < text.size()) {
    const ClassedChar c = text.at(run.end);
    if ((c.classes & classes) == 0) break;
    run.end += c.length;
    ++run.characters;
  }
  return run;
}

// Matches `run` in groups of three counted from the right; the first group has one to three characters.
void match_threes(const TextCursor& text, const Run& run, CharClass classes, PieceSink& sink) {
  size_t at = run.begin;
  size_t group = run.characters % 3 == 0 ? 3 : run.characters % 3;
  while (at < run.end) {
    const size_t end = text.skip_up_to(at, classes, group);
    sink.match(at, end);
    at = end;
    group = 3;
  }
}

}  // namespace

void scan_digit_groups(size_t max, std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (size_t at = text.skip_none_of(0, kNumber); at < text.size(); at = text.skip_none_of(at, kNumber)) {
    const size_t end = text.skip_up_to(at, kNumber, max);
    sink.match(at, end);
    at = end;
  }
  sink.finish(text.size());
}

void scan_numbers_from_right(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (Run run = next_run(text, 0, kNumber); run.characters > 0; run = next_run(text, run.end, kNumber)) {
    match_threes(text, run, kNumber, sink);
  }
  sink.finish(text.size());
}

void scan_digits_from_right_at_border(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (Run run = next_run(text, 0, kDecimal); run.characters > 0; run = next_run(text, run.end, kDecimal)) {
    const bool word_goes_on =
        (text.classes_at(run.end) & (kLetter | kNumber)) != 0 || text.byte(run.end) == '_';
    if (!word_goes_on) match_threes(text, run, kDecimal, sink);
  }
  sink.finish(text.size());
}

void scan_digit_cuts_from_right(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (Run run = next_run(text, 0, kDecimal); run.characters > 0; run = next_run(text, run.end, kDecimal)) {
    size_t at = text.skip_up_to(run.begin, kDecimal, run.characters % 3);
    for (; at < run.end; at = text.skip_up_to(at, kDecimal, 3)) sink.match(at, at);
  }
  sink.finish(text.size());
}

void scan_lines(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  PieceSink sink(base, ends);
  size_t at = 0;
  while (at < piece.size()) {
    size_t end = piece[at] == '\n' ? piece.find_first_not_of('\n', at) : piece.find('\n', at);
    if (end == std::string_view::npos) end = piece.size();
    sink.match(at, end);
    at = end;
  }
}

void scan_trailing_space(std::string_view piece, size_t base, std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (Run run = next_run(text, 0, kSpace); run.characters > 0; run = next_run(text, run.end, kSpace)) {
    if (run.end == text.size()) sink.match(run.begin, run.end);
  }
  sink.finish(text.size());
}

void scan_set(const CharSet& set, size_t max, SpaceBefore space, std::string_view piece, size_t base,
              std::vector<size_t>& ends) {
  const TextCursor text(piece);
  PieceSink sink(base, ends);
  for (size_t at = 0; at < text.size();) {
    const ClassedChar first = text.at(at);
    // The space is taken first where it can be; a set may hold white space itself.
    size_t begin = at;
    if (space == SpaceBefore::kOptional && (first.classes & kSpace) != 0 && at + first.length < text.size() &&
        set.contains(text.at(at + first.length))) {
      begin = at + first.length;
    } else if (!set.contains(first)) {
      at += first.length;
      continue;
    }
    size_t end = begin;
    for (size_t n = 0; n < max && end < text.size(); ++n) {
      const ClassedChar c = text.at(end);
      if (!set.contains(c)) break;
      end += c.length;
    }
    sink.match(at, end);
    at = end;
  }
  sink.finish(text.size());
}

}  // namespace quire::tokenizer

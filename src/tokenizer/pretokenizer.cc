#include "tokenizer/pretokenizer.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "tokenizer/piece_sink.h"

namespace quire::tokenizer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// First invalid byte at or after `at`, or the size of the text.
size_t find_invalid(std::string_view text, size_t at) {
  while (at < text.size()) {
    uint64_t word;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        at += sizeof word;
        continue;
      }
    }
    if (static_cast<unsigned char>(text[at]) < 128) {
      ++at;
      continue;
    }
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!c.valid) return at;
    at += static_cast<size_t>(c.length);
  }
  return at;
}

// Writes `text` to `clean` with every invalid byte replaced, and to origin[i] the offset in `text` of clean
// byte i (one more entry for the end).
void replace_invalid(std::string_view text, std::string& clean, std::vector<size_t>& origin) {
  clean.clear();
  origin.clear();
  for (size_t at = 0; at < text.size();) {
    const size_t bad = find_invalid(text, at);
    clean.append(text.substr(at, bad - at));
    for (size_t i = at; i < bad; ++i) origin.push_back(i);
    at = bad;
    if (at < text.size()) {
      clean.append(kReplacement);
      origin.insert(origin.end(), kReplacement.size(), at);
      ++at;
    }
  }
  origin.push_back(text.size());
}

void scan_regex(const Regex& regex, std::string_view piece, size_t base, RegexScratch& scratch,
                std::vector<size_t>& ends) {
  PieceSink sink(base, ends);
  size_t from = 0;
  while (from < piece.size()) {
    const auto match = regex.find(piece, from, scratch);
    if (!match) break;
    sink.match(match->begin, match->end);
    from = match->end;
    // An empty match cuts where it is; go on behind the next character.
    if (match->end == match->begin && from < piece.size()) {
      from += static_cast<size_t>(decode_utf8(piece.substr(from)).length);
    }
  }
  sink.finish(piece.size());
}

}  // namespace

PreTokenizer::PreTokenizer(const PreTokenizerRow& row, ScannerChoice choice) {
  for (const std::string& pattern : row.patterns) {
    Stage stage;
    if (choice == ScannerChoice::kNative) stage.scanner = find_native_scanner(pattern);
    if (stage.scanner == nullptr) {
      stage.regex.emplace_back(pattern);
      needs_valid_utf8_ = true;
    }
    stages_.push_back(std::move(stage));
  }
}

void PreTokenizer::run_stages(std::string_view text, PreTokenizerScratch& scratch) const {
  scratch.ends.assign(1, text.size());
  for (const Stage& stage : stages_) {
    scratch.next.clear();
    size_t begin = 0;
    for (const size_t end : scratch.ends) {
      const std::string_view piece = text.substr(begin, end - begin);
      if (stage.scanner != nullptr) {
        (*stage.scanner)(piece, begin, scratch.next);
      } else {
        scan_regex(stage.regex.front(), piece, begin, scratch.regex, scratch.next);
      }
      begin = end;
    }
    scratch.ends.swap(scratch.next);
  }
}

void PreTokenizer::split(std::string_view text, PreTokenizerScratch& scratch) const {
  if (text.empty()) {
    scratch.ends.clear();
    return;
  }
  if (!needs_valid_utf8_ || find_invalid(text, 0) == text.size()) {
    run_stages(text, scratch);
    return;
  }
  replace_invalid(text, scratch.clean, scratch.origin);
  run_stages(scratch.clean, scratch);
  for (size_t& end : scratch.ends) end = scratch.origin[end];
}

}  // namespace quire::tokenizer

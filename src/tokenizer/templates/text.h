// Text: an immutable byte string in which every byte knows its origin. TextBuilder makes them.
//
// Text owns its bytes or views bytes that outlive the render (template literals, request strings). Runs are
// kept only for mixed text; most strings are of one origin. Indices are bytes unless a name says characters
// (Python's unit: code points; an invalid byte counts as one). Used by one render; literals are shared
// read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/templates/budget.h"
#include "tokenizer/templates/provenance.h"

namespace quire::jinja {

// Bytes [previous end, end) have this origin.
struct OriginRun {
  size_t end = 0;
  Origin origin = Origin::kTemplate;
};

class Text {
 public:
  // Views `bytes`, which must outlive the Text.
  Text(std::string_view bytes, Origin origin);
  // Owns `bytes`; `runs` covers them in ascending order (empty: all of `origin`).
  Text(std::string bytes, Origin origin, std::vector<OriginRun> runs);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool ascii() const { return ascii_; }
  Origin origin_at(size_t index) const;
  // kContent if any byte of [begin, end) is content.
  Origin origin_of(size_t begin, size_t end) const;
  Origin origin() const { return origin_of(0, size()); }
  const std::vector<OriginRun>& runs() const { return runs_; }
  Origin uniform_origin() const { return origin_; }

 private:
  std::string owned_;
  std::string_view bytes_;
  Origin origin_;
  std::vector<OriginRun> runs_;
  bool ascii_;
};

class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget, size_t max_bytes = SIZE_MAX)
      : budget_(&budget), max_bytes_(max_bytes) {}

  void append(std::string_view bytes, Origin origin);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  // `bytes` over and over, `count` times (none when negative); all of it is charged before any is built.
  void append_repeated(std::string_view bytes, int64_t count, Origin origin);
  void append_char(char32_t code_point, Origin origin);

  size_t size() const { return bytes_.size(); }
  std::string_view view() const { return bytes_; }
  Budget& budget() { return *budget_; }

  // The finished pieces; the builder is empty afterwards.
  std::string take_bytes() { return std::move(bytes_); }
  std::vector<OriginRun> take_runs() { return std::move(runs_); }
  std::vector<PromptSegment> segments() const;

 private:
  Budget* budget_;
  size_t max_bytes_;
  std::string bytes_;
  std::vector<OriginRun> runs_;
};

// Number of code points.
size_t count_characters(const Text& text);
// Byte offset of code point `index` (counted from byte `from`), or the size when there are fewer.
size_t character_offset(const Text& text, size_t index, size_t from = 0);

// First occurrence of `needle` at or after `from`, in linear time; npos when absent.
size_t find_bytes(std::string_view haystack, std::string_view needle, size_t from = 0);

}  // namespace quire::jinja

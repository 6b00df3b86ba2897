#include "tokenizer/templates/text_ops.h"

#include <algorithm>

#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

// Python's rule for a capital sigma: final form after a cased letter and not before one.
bool is_final_sigma(std::string_view text, size_t at, size_t length) {
  size_t before = at;
  bool cased_before = false;
  while (before > 0) {
    const Character c = character_before(text, before);
    if (is_alpha(c.code_point)) {
      cased_before = is_cased(c.code_point);
      break;
    }
    if (c.code_point != '\'' && c.code_point != '.') break;
    before -= c.length;
  }
  if (!cased_before) return false;
  for (size_t after = at + length; after < text.size();) {
    const Character c = character_at(text, after);
    if (is_alpha(c.code_point)) return !is_cased(c.code_point);
    if (c.code_point != '\'' && c.code_point != '.') return true;
    after += c.length;
  }
  return true;
}

std::u32string lower_in(std::string_view text, size_t at, const Character& c) {
  constexpr char32_t kCapitalSigma = 0x3A3;
  if (c.code_point == kCapitalSigma) return is_final_sigma(text, at, c.length) ? U"\u03C2" : U"\u03C3";
  return lower(c.code_point);
}

bool in_set(const Text& set, char32_t c) {
  for (size_t at = 0; at < set.size();) {
    const Character candidate = character_at(set.view(), at);
    if (candidate.code_point == c) return true;
    at += candidate.length;
  }
  return false;
}

}  // namespace

Val change_case(Heap& heap, const Text& text, LetterCase letter_case) {
  TextBuilder out(heap.budget());
  const std::string_view bytes = text.view();
  heap.budget().charge_steps(static_cast<int64_t>(bytes.size() / 8));
  bool previous_cased = false;
  for (size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes, at);
    std::u32string form;
    switch (letter_case) {
      case LetterCase::kUpper:
        form = upper(c.code_point);
        break;
      case LetterCase::kLower:
        form = lower_in(bytes, at, c);
        break;
      case LetterCase::kFold:
        form = c.code_point == 0xDF ? U"ss" : lower(c.code_point);
        break;
      case LetterCase::kTitle:
        form = previous_cased ? lower_in(bytes, at, c) : title(c.code_point);
        previous_cased = is_cased(c.code_point);
        break;
      case LetterCase::kCapitalize:
        form = at == 0 ? title(c.code_point) : lower_in(bytes, at, c);
        break;
      case LetterCase::kSwap:
        form = is_upper(c.code_point)   ? lower_in(bytes, at, c)
               : is_lower(c.code_point) ? upper(c.code_point)
                                        : std::u32string(1, c.code_point);
        break;
    }
    const Origin origin = text.origin_at(at);
    for (char32_t code_point : form) out.append_char(code_point, origin);
    at += c.length;
  }
  return heap.string(std::move(out));
}

Val strip(Heap& heap, const Text& text, Side side, const Text* characters) {
  const std::string_view bytes = text.view();
  if (characters != nullptr) heap.budget().charge_steps(static_cast<int64_t>(characters->size()));
  const auto goes = [&](char32_t c) {
    if (characters == nullptr) return is_space(c);
    heap.budget().charge_search(characters->size());
    return in_set(*characters, c);
  };
  size_t begin = 0;
  size_t end = bytes.size();
  if (side != Side::kRight) {
    while (begin < end) {
      const Character c = character_at(bytes, begin);
      if (!goes(c.code_point)) break;
      begin += c.length;
    }
  }
  if (side != Side::kLeft) {
    while (end > begin) {
      const Character c = character_before(bytes, end);
      if (!goes(c.code_point)) break;
      end -= c.length;
    }
  }
  return heap.slice(text, begin, end);
}

Val replace(Heap& heap, const Text& text, const Text& old_part, const Text& new_part, int64_t count) {
  heap.budget().charge_search(text.size());
  const std::string_view bytes = text.view();
  TextBuilder out(heap.budget());
  size_t at = 0;
  if (old_part.size() == 0) {
    // Between all characters, and at both ends.
    while (count != 0) {
      heap.budget().charge_steps(1);
      out.append(new_part);
      --count;
      if (at >= bytes.size()) break;
      const size_t next = at + character_at(bytes, at).length;
      out.append(text, at, next);
      at = next;
    }
    out.append(text, at, bytes.size());
    return heap.string(std::move(out));
  }
  for (; count != 0; --count) {
    const size_t found = find_bytes(bytes, old_part.view(), at);
    if (found == std::string_view::npos) break;
    heap.budget().charge_steps(1);
    out.append(text, at, found);
    out.append(new_part);
    at = found + old_part.size();
  }
  if (at == 0) return Val::of(&text);
  out.append(text, at, bytes.size());
  return heap.string(std::move(out));
}

std::vector<Val> split(Heap& heap, const Text& text, const Text* separator, int64_t max_splits) {
  heap.budget().charge_search(text.size());
  const std::string_view bytes = text.view();
  std::vector<Val> parts;
  if (separator != nullptr) {
    if (separator->size() == 0) fail("empty separator");
    size_t at = 0;
    for (; max_splits != 0; --max_splits) {
      const size_t found = find_bytes(bytes, separator->view(), at);
      if (found == std::string_view::npos) break;
      parts.push_back(heap.slice(text, at, found));
      at = found + separator->size();
    }
    parts.push_back(heap.slice(text, at, bytes.size()));
    return parts;
  }
  size_t at = leading_space(bytes);
  while (at < bytes.size()) {
    if (max_splits-- == 0) {
      parts.push_back(heap.slice(text, at, bytes.size()));
      break;
    }
    size_t end = at;
    while (end < bytes.size()) {
      const Character c = character_at(bytes, end);
      if (is_space(c.code_point)) break;
      end += c.length;
    }
    parts.push_back(heap.slice(text, at, end));
    at = end + leading_space(bytes.substr(end));
  }
  return parts;
}

std::vector<Val> split_from_right(Heap& heap, const Text& text, const Text* separator, int64_t max_splits) {
  if (max_splits < 0) return split(heap, text, separator, max_splits);
  heap.budget().charge_search(text.size());
  const std::string_view bytes = text.view();
  std::vector<Val> parts;
  if (separator != nullptr) {
    if (separator->size() == 0) fail("empty separator");
    size_t end = bytes.size();
    for (; max_splits > 0; --max_splits) {
      if (end < separator->size()) break;
      const size_t found = bytes.rfind(separator->view(), end - separator->size());
      if (found == std::string_view::npos) break;
      heap.budget().charge_steps(static_cast<int64_t>(1 + (end - found) * separator->size() / 64));
      parts.push_back(heap.slice(text, found + separator->size(), end));
      end = found;
    }
    parts.push_back(heap.slice(text, 0, end));
  } else {
    size_t end = bytes.size() - trailing_space(bytes);
    while (end > 0) {
      if (max_splits-- == 0) {
        parts.push_back(heap.slice(text, 0, end));
        break;
      }
      size_t begin = end;
      while (begin > 0) {
        const Character c = character_before(bytes, begin);
        if (is_space(c.code_point)) break;
        begin -= c.length;
      }
      parts.push_back(heap.slice(text, begin, end));
      end = begin - trailing_space(bytes.substr(0, begin));
    }
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Val> split_lines(Heap& heap, const Text& text, LineEnds ends) {
  heap.budget().charge_search(text.size());
  const std::string_view bytes = text.view();
  std::vector<Val> lines;
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes, at);
    const size_t line_end = at;
    at += c.length;
    if (!is_line_break(c.code_point)) continue;
    if (c.code_point == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    lines.push_back(heap.slice(text, begin, ends == LineEnds::kKeep ? at : line_end));
    begin = at;
  }
  if (begin < bytes.size()) lines.push_back(heap.slice(text, begin, bytes.size()));
  return lines;
}

Val join(Heap& heap, const Text& separator, const std::vector<Val>& items) {
  TextBuilder out(heap.budget());
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(separator);
    append_text(out, items[i]);
  }
  return heap.string(std::move(out));
}

Val justify(Heap& heap, const Text& text, int64_t width, std::string_view fill, Side padded_side) {
  heap.budget().charge_scan(text.size());
  const auto size = static_cast<int64_t>(count_characters(text));
  if (width <= size) return Val::of(&text);
  const int64_t padding = width - size;
  // Python's centre puts the odd space left when the width is odd as well.
  const int64_t left = padded_side == Side::kLeft    ? padding
                       : padded_side == Side::kRight ? 0
                                                     : padding / 2 + (padding & width & 1);
  TextBuilder out(heap.budget());
  out.append_repeated(fill, left, Origin::kTemplate);
  out.append(text);
  out.append_repeated(fill, padding - left, Origin::kTemplate);
  return heap.string(std::move(out));
}

}  // namespace quire::jinja

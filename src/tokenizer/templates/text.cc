#include "tokenizer/templates/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

bool is_ascii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Text::Text(std::string_view bytes, Origin origin) : bytes_(bytes), origin_(origin), ascii_(is_ascii(bytes)) {}

Text::Text(std::string bytes, Origin origin, std::vector<OriginRun> runs)
    : owned_(std::move(bytes)),
      bytes_(owned_),
      origin_(origin),
      runs_(std::move(runs)),
      ascii_(is_ascii(owned_)) {
  if (runs_.size() == 1) {
    origin_ = runs_[0].origin;
    runs_.clear();
  }
}

Origin Text::origin_at(size_t index) const {
  if (runs_.empty()) return origin_;
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), index,
                                    [](size_t i, const OriginRun& candidate) { return i < candidate.end; });
  return run == runs_.end() ? runs_.back().origin : run->origin;
}

Origin Text::origin_of(size_t begin, size_t end) const {
  if (runs_.empty()) return origin_;
  auto run = std::upper_bound(runs_.begin(), runs_.end(), begin,
                              [](size_t i, const OriginRun& candidate) { return i < candidate.end; });
  for (; run != runs_.end(); ++run) {
    if (run->origin == Origin::kContent) return Origin::kContent;
    if (run->end >= end) break;
  }
  return Origin::kTemplate;
}

void TextBuilder::append(std::string_view bytes, Origin origin) { append_repeated(bytes, 1, origin); }

void TextBuilder::append_repeated(std::string_view bytes, int64_t count, Origin origin) {
  if (bytes.empty() || count <= 0) return;
  size_t total = 0;
  if (__builtin_mul_overflow(bytes.size(), static_cast<size_t>(count), &total)) total = SIZE_MAX;
  budget_->charge_memory(total);
  if (total > max_bytes_ - bytes_.size()) {
    fail(ErrorCode::kResourceExhausted, "the prompt is longer than {} bytes", max_bytes_);
  }
  if (count == 1) {
    bytes_.append(bytes);
  } else {
    bytes_.reserve(bytes_.size() + total);
    for (int64_t i = 0; i < count; ++i) bytes_.append(bytes);
  }
  if (!runs_.empty() && runs_.back().origin == origin) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), origin});
  }
}

void TextBuilder::append(const Text& text, size_t begin, size_t end) {
  if (begin >= end) return;
  const std::string_view bytes = text.view();
  if (text.runs().empty()) {
    append(bytes.substr(begin, end - begin), text.uniform_origin());
    return;
  }
  auto run = std::upper_bound(text.runs().begin(), text.runs().end(), begin,
                              [](size_t i, const OriginRun& candidate) { return i < candidate.end; });
  for (; begin < end && run != text.runs().end(); ++run) {
    const size_t stop = std::min(end, run->end);
    append(bytes.substr(begin, stop - begin), run->origin);
    begin = stop;
  }
}

void TextBuilder::append_char(char32_t code_point, Origin origin) {
  std::string bytes;
  if (code_point >= kInvalidByte) {
    bytes.push_back(static_cast<char>(code_point - kInvalidByte));
  } else {
    append_utf8(bytes, code_point);
  }
  append(bytes, origin);
}

std::vector<PromptSegment> TextBuilder::segments() const {
  std::vector<PromptSegment> segments;
  size_t begin = 0;
  for (const OriginRun& run : runs_) {
    segments.push_back({bytes_.substr(begin, run.end - begin), run.origin});
    begin = run.end;
  }
  return segments;
}

size_t count_characters(const Text& text) {
  if (text.ascii()) return text.size();
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    at += static_cast<size_t>(decode_utf8(text.view().substr(at)).length);
  }
  return count;
}

size_t character_offset(const Text& text, size_t index, size_t from) {
  if (text.ascii()) return std::min(text.size(), from + std::min(index, text.size()));
  size_t at = from;
  for (; index > 0 && at < text.size(); --index) {
    at += static_cast<size_t>(decode_utf8(text.view().substr(at)).length);
  }
  return at;
}

size_t find_bytes(std::string_view haystack, std::string_view needle, size_t from) {
  if (from > haystack.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* found = memmem(haystack.data() + from, haystack.size() - from, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - haystack.data());
}

}  // namespace quire::jinja

#include "tokenizer/wpm_normalizer.h"

#include <utf8proc.h>

#include <array>
#include <span>

namespace quire::tokenizer {
namespace {

struct CodeRange {
  char32_t first, last;
};
// Ideographs that stand alone. The sixth range starts at 2B920, as in the widely used implementation.
constexpr CodeRange kIdeographs[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                     {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF},
                                     {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

bool is_ideograph(char32_t c) {
  if (c < 0x3400) return false;
  for (const CodeRange& range : kIdeographs) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

void append_lower(const VocabFlags& flags, char32_t c, std::string& out) {
  if (!flags.lowercase) {
    append_utf8(out, c);
  } else if (c == 0x130) {  // the one capital whose small form is two characters: i and a dot above
    append_utf8(out, U'i');
    append_utf8(out, 0x307);
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace

WordBreak word_break(const ClassedChar& c) {
  // Of the control characters only these three separate words; the others vanish.
  if (c.code_point == '\t' || c.code_point == '\n' || c.code_point == '\r') return WordBreak::kBetween;
  if ((c.classes & kOther) != 0) return WordBreak::kNone;
  if ((c.classes & kSpace) != 0) return WordBreak::kBetween;
  const bool ascii_symbol = c.code_point < 128 && (c.classes & kSymbol) != 0;
  if ((c.classes & kPunctuation) != 0 || ascii_symbol || is_ideograph(c.code_point)) return WordBreak::kAlone;
  return WordBreak::kNone;
}

void append_normalized(const VocabFlags& flags, const ClassedChar& c, std::string& out) {
  if ((c.classes & kOther) != 0 || c.code_point == 0xFFFD) return;
  if (c.code_point < 128) {
    const bool upper = flags.lowercase && c.code_point >= 'A' && c.code_point <= 'Z';
    out += static_cast<char>(upper ? c.code_point + 32 : c.code_point);
    return;
  }
  if (!flags.strip_accents) {
    append_lower(flags, c.code_point, out);
    return;
  }
  // No character decomposes into more than 4; the order of marks does not matter, as they go.
  std::array<utf8proc_int32_t, 16> parts = {};
  int state = 0;
  const utf8proc_ssize_t n =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.code_point), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), UTF8PROC_DECOMPOSE, &state);
  if (n < 0 || n > static_cast<utf8proc_ssize_t>(parts.size())) {
    append_lower(flags, c.code_point, out);
    return;
  }
  for (const utf8proc_int32_t part : std::span(parts).first(static_cast<size_t>(n))) {
    const auto code_point = static_cast<char32_t>(part);
    if ((CharClasses::instance().of(code_point) & kNonSpacing) == 0) append_lower(flags, code_point, out);
  }
}

}  // namespace quire::tokenizer

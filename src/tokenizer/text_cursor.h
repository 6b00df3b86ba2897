// TextCursor: looks at classed characters of one text. Borrows the text; cheap to copy, thread safe.
#pragma once

#include <string_view>

#include "tokenizer/char_class.h"

namespace quire::tokenizer {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text), classes_(CharClasses::instance()) {}

  size_t size() const { return text_.size(); }
  // The character at `at`, which must be inside the text.
  ClassedChar at(size_t at) const { return char_at(classes_, text_, at); }
  // Classes of the character at `at`; none at the end of the text.
  CharClass classes_at(size_t at) const { return at < text_.size() ? this->at(at).classes : CharClass(0); }
  char byte(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  // First position from `at` on whose character has none of `classes`.
  size_t skip(size_t at, CharClass classes) const {
    while (at < text_.size()) {
      const ClassedChar c = this->at(at);
      if ((c.classes & classes) == 0) break;
      at += c.length;
    }
    return at;
  }
  // First position from `at` on whose character has any of `classes`.
  size_t skip_none_of(size_t at, CharClass classes) const {
    while (at < text_.size()) {
      const ClassedChar c = this->at(at);
      if ((c.classes & classes) != 0) break;
      at += c.length;
    }
    return at;
  }
  // The same, at most `limit` characters on.
  size_t skip_up_to(size_t at, CharClass classes, size_t limit) const {
    for (; limit > 0 && at < text_.size(); --limit) {
      const ClassedChar c = this->at(at);
      if ((c.classes & classes) == 0) break;
      at += c.length;
    }
    return at;
  }

 private:
  std::string_view text_;
  const CharClasses& classes_;
};

}  // namespace quire::tokenizer

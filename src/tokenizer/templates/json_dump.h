// json.dumps as transformers' `tojson` filter calls it: no HTML escapes, key order kept, every option of that
// filter.
#pragma once

#include <optional>
#include <string>

#include "tokenizer/templates/object.h"

namespace quire::jinja {

enum class NonAscii { kKeep, kEscape };
enum class KeyOrder { kKeep, kSorted };

struct JsonStyle {
  NonAscii non_ascii = NonAscii::kKeep;
  std::optional<Val> indent;          // a string: one level of indentation; absent: one line
  std::optional<Val> item_separator;  // strings; absent: Python's defaults
  std::optional<Val> key_separator;
  KeyOrder key_order = KeyOrder::kKeep;
};

// Appends the JSON text of `value`. Punctuation has the origin of its container. Fails for what JSON cannot
// hold.
void append_json(Heap& heap, TextBuilder& out, const Val& value, const JsonStyle& style);

}  // namespace quire::jinja

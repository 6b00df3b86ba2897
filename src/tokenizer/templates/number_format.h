// One number or string laid out by a format specification: the part that "%" and str.format share.
#pragma once

#include <cstdint>
#include <string>

#include "tokenizer/templates/object.h"

namespace quire::jinja {

enum class Sign : uint8_t { kNegativeOnly, kAlways, kSpace };

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = '\0';       // '<', '>', '^', '=' (padding after the sign); '\0': the type's default
  Sign sign = Sign::kNegativeOnly;
  bool alternate = false;  // 0x prefixes
  char grouping = '\0';    // ',' or '_'
  int64_t width = 0;       // characters
  int64_t precision = -1;  // -1: not given
  char type = '\0';        // presentation: d, x, f, e, g, %, s, ...
};

// Digits of an int or float by spec.type, without padding. Fails for a type that does not fit the value.
std::string number_text(const Val& value, const FormatSpec& spec);

// Appends `digits` padded to the width; a leading sign or prefix stays in front of '=' padding.
void append_padded_number(TextBuilder& out, const std::string& digits, Origin origin, const FormatSpec& spec);
// Appends `text` cut to the precision and padded to the width.
void append_padded_text(TextBuilder& out, const Text& text, const FormatSpec& spec);

}  // namespace quire::jinja

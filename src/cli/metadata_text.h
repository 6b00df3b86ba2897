// Metadata values as text and as JSON, long arrays shortened.
#pragma once

#include <string>
#include <string_view>

#include "cli/console.h"
#include "gguf/metadata.h"

namespace quire::cli {

// "u32", "string[49152]".
std::string value_type_text(const Metadata::Value& value);

// One line, safe for a terminal; long text and arrays end in "...". `key` must be in `metadata`.
std::string value_text(const Metadata& metadata, std::string_view key);

// Scalars and text whole; an array as {"count","first":[...]} with at most 16 elements. `key` must be in
// `metadata`.
Json value_json(const Metadata& metadata, std::string_view key);

}  // namespace quire::cli

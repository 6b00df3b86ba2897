// Value <-> nlohmann::ordered_json, for the edges of the program where requests are JSON.
//
// Pure functions, thread safe. Key order is kept both ways; unsigned integers above int64 become BigInteger.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"
#include "tokenizer/templates/value.h"

namespace quire {

// Errors: kInvalidArgument for a binary or discarded node, or nesting deeper than 512.
Result<Value> value_from_json(const nlohmann::ordered_json& json);

// Errors: kCorrupt with the parser's position when `text` is not JSON (nesting is checked before the tree is
// built).
Result<Value> value_from_json_text(std::string_view text);

// A BigInteger becomes a JSON number where uint64 can hold it, else a double (JSON has no other way here).
nlohmann::ordered_json json_from_value(const Value& value);

}  // namespace quire

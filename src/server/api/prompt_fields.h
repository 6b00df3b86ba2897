// Texts and token ids as requests give them to the model without a template: one, or several in an array.
#pragma once

#include <cstdint>
#include <vector>

#include "server/api/fields.h"
#include "tokenizer/tokenizer.h"

namespace quire::server {

inline constexpr size_t kMaxPrompts = 1024;

enum class TextUse : uint8_t {
  kContinued,  // control tokens spelled in it are control tokens; no end token behind it
  kWhole,      // what it says is text; with the begin and end tokens that the model asks for
};

// Of the field `name`: a string, ids, ids and strings mixed, or an array of these. None is empty. Errors:
// kInvalidRequest naming the field.
ApiResult<std::vector<std::vector<int32_t>>> read_prompts(Fields& fields, std::string_view name, TextUse use,
                                                          const Tokenizer& tokenizer);

}  // namespace quire::server

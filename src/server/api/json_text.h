// Strict JSON of a request's body. Pure function.
#pragma once

#include <string_view>

#include "server/api/api_result.h"

namespace quire::server {

inline constexpr int kMaxJsonDepth = 64;

// Errors: kInvalidRequest, naming the byte, for text that is not JSON (in UTF-8), a number that no double
// holds, a key given twice in one object, and nesting deeper than kMaxJsonDepth. No bytes of the body are
// repeated in messages, except the name of a key given twice.
ApiResult<Json> parse_json(std::string_view text);

}  // namespace quire::server

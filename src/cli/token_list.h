// Token ids as people and scripts write them. Pure function.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/token.h"

namespace quire::cli {

// The ids in "1,2, 3" or "[1, 2]\n3": decimal numbers between commas, white space and brackets; none is fine.
// Whether a vocabulary has them is not looked at. Errors: kInvalidArgument naming what is no id.
Result<std::vector<TokenId>> parse_token_ids(std::string_view text);

}  // namespace quire::cli

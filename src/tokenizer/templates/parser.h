// The template parser: tokens to a Tree, by recursive descent over the Jinja 3.1 grammar.
//
// Pure function, thread safe. Failures: kCorrupt (syntax), kUnsupported (include, import, extends, block and
// other tags that need more than one template), kResourceExhausted (nesting deeper than kMaxNesting (ast.h)).
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/templates/ast.h"

namespace quire::jinja {

std::unique_ptr<const Tree> parse_template(std::string_view source);

}  // namespace quire::jinja

// Failure: the one exception inside the template engine. It never leaves ChatTemplate, which turns it into an
// Error.
//
// An expression can fail at any depth of a recursive evaluation, in any filter; unwinding keeps each of those
// a plain function of values. Library boundary rule: ChatTemplate::parse and ::render catch it and return
// Result.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace quire::jinja {

struct Failure {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  int line = 0;           // 1-based line of the template; 0: filled in by the interpreter
  bool verbatim = false;  // raise_exception: the message is the template's own text, without a prefix
};

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{code, fmt::format(format, std::forward<Args>(args)...)};
}

// A mistake of the template or its input: wrong type, undefined value, bad argument.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace quire::jinja

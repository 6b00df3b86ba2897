// Python's two string formatting mini-languages: "%05.2f" % x and "{:>8}".format(x).
//
// Text taken from arguments keeps its origin; padding and digits have the origin of the argument.
#pragma once

#include "tokenizer/templates/object.h"

namespace quire::jinja {

// format % arguments: `arguments` is a tuple, a dict (for %(name)s) or a single value.
Val percent_format(Heap& heap, const Text& format, const Val& arguments);

// str.format(*positional, **named).
Val brace_format(Interpreter& interpreter, const Text& format, const CallArguments& arguments);

}  // namespace quire::jinja

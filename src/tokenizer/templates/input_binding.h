// Turns a TemplateInput into the variables that a template sees, with their origin.
//
// Strings are viewed, not copied: the input must outlive the heap. Everything from messages, tools and
// request variables is content, except the roles in common use, which templates paste into control tokens
// ('<|' + role + '|>').
#pragma once

#include "tokenizer/templates/chat_template.h"
#include "tokenizer/templates/interpreter.h"

namespace quire::jinja {

// One value and everything below it.
Val import_value(Heap& heap, const Value& value, Origin origin);

void bind_input(Interpreter& interpreter, const TemplateInput& input);

}  // namespace quire::jinja

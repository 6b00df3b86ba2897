// The tables of filters, tests, methods and global functions, and the matching of call arguments to
// parameters.
//
// Tables are constant data, shared by all threads. A row's parameters are names with Python's meaning, so
// keyword arguments work everywhere.
#pragma once

#include <span>
#include <string_view>

#include "tokenizer/templates/object.h"

namespace quire::jinja {

const FunctionObject* find_filter(std::string_view name);
const FunctionObject* find_test(std::string_view name);
// A method of a value of this kind, or null. Methods that would change a list or dict are refused by name.
const FunctionObject* find_method(const Val& self, std::string_view name);
// True for a name that Python's type has but templates may not use (append, update, ...): the sandbox's rule.
bool is_forbidden_method(const Val& self, std::string_view name);

std::span<const FunctionObject> global_functions();

// One table per file.
std::span<const FunctionObject> text_filters();
std::span<const FunctionObject> sequence_filters();
std::span<const FunctionObject> selection_filters();
std::span<const FunctionObject> number_filters();
std::span<const FunctionObject> test_functions();
std::span<const FunctionObject> string_methods();
std::span<const FunctionObject> dict_methods();
std::span<const FunctionObject> list_methods();
std::span<const FunctionObject> loop_methods();
std::span<const FunctionObject> cycler_methods();

Bound bind(const FunctionObject& function, const CallArguments& arguments);

// Values of optional arguments.
int64_t integer_or(const Val& argument, int64_t fallback, const char* what);
bool flag_or(const Val& argument, bool fallback);
// The text of a str argument; fails for other types.
const Text& require_text(const Val& value, std::string_view function);

}  // namespace quire::jinja

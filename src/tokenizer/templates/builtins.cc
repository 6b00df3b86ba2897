#include "tokenizer/templates/builtins.h"

#include <algorithm>
#include <string>

#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

const FunctionObject* find_in(std::span<const FunctionObject> table, std::string_view name) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const FunctionObject& f) { return f.name == name; });
  return row == table.end() ? nullptr : &*row;
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const FunctionObject* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), sequence_filters(), selection_filters(), number_filters()}) {
    if (const FunctionObject* found = find_in(table, name)) return found;
  }
  return nullptr;
}

const FunctionObject* find_test(std::string_view name) { return find_in(test_functions(), name); }

const FunctionObject* find_method(const Val& self, std::string_view name) {
  switch (self.tag) {
    case Tag::kString:
      return find_in(string_methods(), name);
    case Tag::kDict:
      return find_in(dict_methods(), name);
    case Tag::kLoop:
      return find_in(loop_methods(), name);
    case Tag::kCycler:
      return find_in(cycler_methods(), name);
    case Tag::kList: {
      const ListKind kind = self.list->kind;
      if (kind == ListKind::kIterator || kind == ListKind::kKeys || kind == ListKind::kValues ||
          kind == ListKind::kItems || (kind != ListKind::kList && name == "copy")) {
        return nullptr;
      }
      return find_in(list_methods(), name);
    }
    default:
      return nullptr;
  }
}

bool is_forbidden_method(const Val& self, std::string_view name) {
  if (self.is(Tag::kDict)) return one_of(name, {"clear", "pop", "popitem", "setdefault", "update"});
  if (self.is(Tag::kList) && self.list->kind == ListKind::kList) {
    return one_of(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
  }
  return false;
}

Bound bind(const FunctionObject& function, const CallArguments& arguments) {
  Bound bound;
  bound.raw = &arguments;
  if (function.parameters == "*") return bound;
  std::vector<std::string_view> names;
  for (std::string_view rest = function.parameters; !rest.empty();) {
    const size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (arguments.positional.size() > names.size()) {
    fail("{}() takes at most {} argument(s), {} given", function.name, names.size(),
         arguments.positional.size());
  }
  bound.values = arguments.positional;
  bound.values.resize(names.size());
  for (const auto& [name, value] : arguments.named) {
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) fail("{}() got an unexpected keyword argument '{}'", function.name, name);
    Val& slot = bound.values[static_cast<size_t>(place - names.begin())];
    if (slot.given()) fail("{}() got multiple values for argument '{}'", function.name, name);
    slot = value;
  }
  for (int i = 0; i < function.required; ++i) {
    if (!bound.values[static_cast<size_t>(i)].given()) {
      fail("{}() missing required argument '{}'", function.name, names[static_cast<size_t>(i)]);
    }
  }
  return bound;
}

int64_t integer_or(const Val& argument, int64_t fallback, const char* what) {
  return argument.given() ? to_index(argument, what) : fallback;
}

bool flag_or(const Val& argument, bool fallback) { return argument.given() ? truthy(argument) : fallback; }

const Text& require_text(const Val& value, std::string_view function) {
  require_defined(value);
  if (!value.is(Tag::kString)) fail("{}() argument must be str, not {}", function, type_name(value));
  return *value.text;
}

}  // namespace quire::jinja

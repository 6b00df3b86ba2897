// Attribute and item access: object.name looks for a method first, object[key] for an element first.
#include <algorithm>
#include <charconv>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

std::string holder_name(const Val& object) {
  return object.is(Tag::kNone) ? "None" : type_name(object) + " object";
}

bool is_group(const Val& object) {
  return object.is(Tag::kList) && object.list->kind == ListKind::kTuple && object.list->is_group;
}

// The attribute of a value of builtin type, without looking at dict keys; kMissing when it has none.
Val builtin_attribute(Heap& heap, const Val& object, std::string_view name) {
  if (const FunctionObject* method = find_method(object, name)) return heap.method(object, method);
  const bool internal = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  if (internal || is_forbidden_method(object, name)) {
    UndefinedObject reason;
    reason.hint = fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(object));
    return heap.undefined(std::move(reason));
  }
  if (is_group(object) && (name == "grouper" || name == "list"))
    return object.list->items[name == "list" ? 1 : 0];
  return Val();
}

}  // namespace

Val Interpreter::missing_attribute(const Val& object, std::string_view name) {
  UndefinedObject reason;
  reason.name = name;
  reason.holder = holder_name(object);
  return heap_.undefined(std::move(reason));
}

Val Interpreter::attribute(const Val& object, std::string_view name) {
  require_defined(object);
  if (object.is(Tag::kNamespace)) {
    const Val* found = dict_find(*object.dict, name);
    return found == nullptr ? missing_attribute(object, name) : *found;
  }
  if (const Val found = builtin_attribute(heap_, object, name); found.given()) return found;
  if (object.is(Tag::kDict)) {
    if (const Val* found = dict_find(*object.dict, name)) return *found;
  }
  if (object.is(Tag::kLoop)) return loop_attribute(*object.loop, name);
  if (object.is(Tag::kMacro)) return macro_attribute(*object.macro, name);
  if (object.is(Tag::kCycler) && name == "current") return object.cycler->items[object.cycler->position];
  return missing_attribute(object, name);
}

Val Interpreter::item(const Val& object, const Val& key) {
  require_defined(object);
  if (object.is(Tag::kDict) &&
      (key.is(Tag::kDict) || (key.is(Tag::kList) && key.list->kind == ListKind::kList))) {
    UndefinedObject reason;  // an unhashable key finds nothing
    reason.name = repr(budget(), key);
    reason.holder = holder_name(object);
    reason.is_element = true;
    return heap_.undefined(std::move(reason));
  }
  if (const Val found = element(heap_, object, key); found.given()) return found;
  if (key.is(Tag::kString)) {
    const std::string_view name = key.view();
    if (object.is(Tag::kDict) || object.is(Tag::kString) || object.is(Tag::kList)) {
      const Val found = builtin_attribute(heap_, object, name);
      return found.given() ? found : missing_attribute(object, name);
    }
    return attribute(object, name);
  }
  UndefinedObject reason;
  reason.name = repr(budget(), key);
  reason.holder = holder_name(object);
  reason.is_element = true;
  return heap_.undefined(std::move(reason));
}

Val Interpreter::attribute_path(const Val& object, const Val& path, const Val& fallback) {
  const bool has_fallback = fallback.given() && !fallback.is(Tag::kNone);
  if (path.is(Tag::kNone)) return object;
  if (!path.is(Tag::kString)) {
    const Val found = item(object, path);
    return has_fallback && found.is(Tag::kUndefined) ? fallback : found;
  }
  Val current = object;
  for (size_t begin = 0; begin <= path.view().size();) {
    const size_t end = std::min(path.view().find('.', begin), path.view().size());
    const std::string_view part = path.view().substr(begin, end - begin);
    Val key = heap_.slice(*path.text, begin, end);
    int64_t index = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), index);
    if (!part.empty() && part[0] != '-' && parsed.ec == std::errc() &&
        parsed.ptr == part.data() + part.size()) {
      key = Val::of(index);
    }
    current = item(current, key);
    if (has_fallback && current.is(Tag::kUndefined)) current = fallback;
    begin = end + 1;
  }
  return current;
}

Val Interpreter::loop_attribute(const LoopObject& loop, std::string_view name) {
  const auto index0 = static_cast<int64_t>(loop.index0);
  const auto size = static_cast<int64_t>(loop.items.size());
  if (name == "index") return Val::of(index0 + 1);
  if (name == "index0") return Val::of(index0);
  if (name == "revindex") return Val::of(size - index0);
  if (name == "revindex0") return Val::of(size - index0 - 1);
  if (name == "first") return Val::of(index0 == 0);
  if (name == "last") return Val::of(index0 + 1 == size);
  if (name == "length") return Val::of(size);
  if (name == "depth") return Val::of(int64_t{loop.depth0 + 1});
  if (name == "depth0") return Val::of(int64_t{loop.depth0});
  UndefinedObject reason;
  if (name == "previtem") {
    if (loop.index0 > 0) return loop.items[loop.index0 - 1];
    reason.hint = "there is no previous item";
  } else if (name == "nextitem") {
    if (loop.index0 + 1 < loop.items.size()) return loop.items[loop.index0 + 1];
    reason.hint = "there is no next item";
  } else {
    reason.name = name;
    reason.holder = "LoopContext object";
  }
  return heap_.undefined(std::move(reason));
}

Val Interpreter::macro_attribute(const MacroObject& macro, std::string_view name) {
  const MacroNode& node = *macro.node;
  if (name == "name") return heap_.view(node.name, Origin::kTemplate);
  if (name == "catch_kwargs") return Val::of(node.uses_kwargs);
  if (name == "catch_varargs") return Val::of(node.uses_varargs);
  if (name == "caller") return Val::of(node.uses_caller);
  if (name == "arguments") {
    std::vector<Val> names;
    for (const auto& parameter : node.parameters)
      names.push_back(heap_.view(parameter.first, Origin::kTemplate));
    return heap_.list(std::move(names), ListKind::kTuple);
  }
  UndefinedObject reason;
  reason.name = name;
  reason.holder = "Macro object";
  return heap_.undefined(std::move(reason));
}

}  // namespace quire::jinja

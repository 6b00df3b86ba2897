#include "tokenizer/templates/object.h"

#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

constexpr size_t kIndexFrom = 8;  // dicts larger than this keep a hash index of their string keys

// Position of `key` in `dict.entries`, or the number of entries.
size_t locate(Budget& budget, const DictObject& dict, const Val& key) {
  if (key.is(Tag::kString) && !dict.index.empty()) {
    const auto found = dict.index.find(key.view());
    return found == dict.index.end() ? dict.entries.size() : found->second;
  }
  size_t i = 0;
  while (i < dict.entries.size() && !equal(budget, dict.entries[i].first, key)) ++i;
  budget.charge_steps(static_cast<int64_t>(i));
  return i;
}

}  // namespace

Val Val::none(Origin origin) {
  Val value;
  value.tag = Tag::kNone;
  value.origin = origin;
  return value;
}

Val Val::of(bool boolean, Origin origin) {
  Val value = none(origin);
  value.tag = Tag::kBool;
  value.boolean = boolean;
  return value;
}

Val Val::of(int64_t integer, Origin origin) {
  Val value = none(origin);
  value.tag = Tag::kInt;
  value.integer = integer;
  return value;
}

Val Val::of(double real, Origin origin) {
  Val value = none(origin);
  value.tag = Tag::kFloat;
  value.real = real;
  return value;
}

Val Val::of(const Text* text) {
  Val value = none();
  value.tag = Tag::kString;
  value.text = text;
  return value;
}

std::string UndefinedObject::message() const {
  if (!hint.empty()) return hint;
  if (holder.empty()) return fmt::format("'{}' is undefined", name);
  if (is_element) return fmt::format("{} has no element {}", holder, name);
  return fmt::format("'{}' has no attribute '{}'", holder, name);
}

Val Heap::string(TextBuilder&& builder) {
  budget_.charge_memory(sizeof(Text));
  return Val::of(&texts_.emplace_back(builder.take_bytes(), Origin::kTemplate, builder.take_runs()));
}

Val Heap::string(std::string bytes, Origin origin) {
  budget_.charge_memory(sizeof(Text) + bytes.size());
  return Val::of(&texts_.emplace_back(std::move(bytes), origin, std::vector<OriginRun>()));
}

Val Heap::view(std::string_view bytes, Origin origin) {
  budget_.charge_memory(sizeof(Text));
  budget_.charge_scan(bytes.size());
  return Val::of(&texts_.emplace_back(bytes, origin));
}

Val Heap::slice(const Text& text, size_t begin, size_t end) {
  if (begin == 0 && end == text.size()) return Val::of(&text);
  if (text.runs().empty()) {
    // The sliced text lives as long as the heap (or longer), so a view is enough.
    return view(text.view().substr(begin, end > begin ? end - begin : 0), text.uniform_origin());
  }
  TextBuilder builder(budget_);
  builder.append(text, begin, end);
  return string(std::move(builder));
}

Val Heap::big_integer(std::string_view digits, Origin origin) {
  Val value = string(std::string(digits), origin);
  value.tag = Tag::kBigInt;
  value.origin = origin;
  return value;
}

Val Heap::undefined(UndefinedObject reason) {
  UndefinedObject* object = make(undefined_, reason.hint.size() + reason.name.size());
  *object = std::move(reason);
  Val value = Val::none();
  value.tag = Tag::kUndefined;
  value.undefined = object;
  return value;
}

Val Heap::list(std::vector<Val> items, ListKind kind, Origin origin) {
  ListObject* object = make(lists_, items.size() * sizeof(Val));
  object->kind = kind;
  object->items = std::move(items);
  Val value = Val::none(origin);
  value.tag = Tag::kList;
  value.list = object;
  return value;
}

Val Heap::iterator(std::vector<Val> items, const char* type_name, Origin origin) {
  Val value = list(std::move(items), ListKind::kIterator, origin);
  value.list->type_name = type_name;
  return value;
}

Val Heap::dict(Origin origin) {
  Val value = Val::none(origin);
  value.tag = Tag::kDict;
  value.dict = make(dicts_);
  return value;
}

Val Heap::name_space() {
  Val value = dict();
  value.tag = Tag::kNamespace;
  return value;
}

Val Heap::macro(const MacroNode* node, Scope* scope) {
  for (Scope* outer = scope; outer != nullptr && !outer->captured; outer = outer->parent)
    outer->captured = true;
  MacroObject* object = make(macros_);
  object->node = node;
  object->scope = scope;
  Val value = Val::none();
  value.tag = Tag::kMacro;
  value.macro = object;
  return value;
}

Val Heap::function(const FunctionObject* function) {
  Val value = Val::none();
  value.tag = Tag::kFunction;
  value.function = function;
  return value;
}

Val Heap::method(Val self, const FunctionObject* function) {
  MethodObject* object = make(methods_);
  object->self = self;
  object->function = function;
  Val value = Val::none();
  value.tag = Tag::kMethod;
  value.method = object;
  return value;
}

LoopObject* Heap::loop() { return make(loops_); }

Val Heap::cycler(std::vector<Val> items) {
  CyclerObject* object = make(cyclers_, items.size() * sizeof(Val));
  object->items = std::move(items);
  Val value = Val::none();
  value.tag = Tag::kCycler;
  value.cycler = object;
  return value;
}

Val Heap::joiner(Val separator) {
  JoinerObject* object = make(joiners_);
  object->separator = separator;
  Val value = Val::none();
  value.tag = Tag::kJoiner;
  value.joiner = object;
  return value;
}

Scope* Heap::scope(Scope* parent) {
  Scope* object = make(scopes_);
  object->parent = parent;
  return object;
}

const Val* dict_find(Budget& budget, const DictObject& dict, const Val& key) {
  require_hashable(key);
  const size_t i = locate(budget, dict, key);
  return i == dict.entries.size() ? nullptr : &dict.entries[i].second;
}

const Val* dict_find(const DictObject& dict, std::string_view key) {
  if (!dict.index.empty()) {
    const auto found = dict.index.find(key);
    return found == dict.index.end() ? nullptr : &dict.entries[found->second].second;
  }
  for (const auto& [name, value] : dict.entries) {
    if (name.is(Tag::kString) && name.view() == key) return &value;
  }
  return nullptr;
}

void dict_insert(Budget& budget, DictObject& dict, const Val& key, const Val& value) {
  require_hashable(key);
  const size_t i = locate(budget, dict, key);
  if (i < dict.entries.size()) {
    dict.entries[i].second = value;
    return;
  }
  budget.charge_memory(sizeof(dict.entries[0]));
  dict.entries.emplace_back(key, value);
  if (!dict.index.empty()) {
    if (key.is(Tag::kString)) dict.index.emplace(key.view(), i);
  } else if (dict.entries.size() > kIndexFrom) {
    for (size_t k = 0; k < dict.entries.size(); ++k) {
      if (dict.entries[k].first.is(Tag::kString)) dict.index.emplace(dict.entries[k].first.view(), k);
    }
  }
}

}  // namespace quire::jinja

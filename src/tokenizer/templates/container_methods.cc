// Methods of dicts, lists, tuples, loops and cyclers.
#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

Val method_get(Interpreter& in, const Val& self, const Bound& args) {
  const Val* found = dict_find(in.budget(), *self.dict, args[0]);
  if (found != nullptr) return *found;
  return args[1].given() ? args[1] : Val::none();
}

Val method_keys(Interpreter& in, const Val& self, const Bound&) {
  std::vector<Val> items;
  for (const auto& [key, value] : self.dict->entries) items.push_back(key);
  return in.heap().list(std::move(items), ListKind::kKeys, self.origin);
}

Val method_values(Interpreter& in, const Val& self, const Bound&) {
  std::vector<Val> items;
  for (const auto& [key, value] : self.dict->entries) items.push_back(value);
  return in.heap().list(std::move(items), ListKind::kValues, self.origin);
}

Val method_items(Interpreter& in, const Val& self, const Bound&) {
  std::vector<Val> items;
  for (const auto& [key, value] : self.dict->entries) {
    items.push_back(in.heap().list({key, value}, ListKind::kTuple, self.origin));
  }
  return in.heap().list(std::move(items), ListKind::kItems, self.origin);
}

Val method_dict_copy(Interpreter& in, const Val& self, const Bound&) {
  Val copy = in.heap().dict(self.origin);
  in.budget().charge_memory(self.dict->entries.size() * sizeof(self.dict->entries[0]));
  copy.dict->entries = self.dict->entries;
  copy.dict->index = self.dict->index;
  return copy;
}

Val method_list_copy(Interpreter& in, const Val& self, const Bound&) {
  return in.heap().list(self.list->items, ListKind::kList, self.origin);
}

Val method_list_count(Interpreter& in, const Val& self, const Bound& args) {
  int64_t count = 0;
  for (const Val& item : self.list->items) count += equal(in.budget(), item, args[0]) ? 1 : 0;
  return Val::of(count, self.origin);
}

Val method_list_index(Interpreter& in, const Val& self, const Bound& args) {
  for (size_t i = 0; i < self.list->items.size(); ++i) {
    if (equal(in.budget(), self.list->items[i], args[0]))
      return Val::of(static_cast<int64_t>(i), self.origin);
  }
  fail("{} is not in list", repr(in.budget(), args[0]));
}

Val method_cycle(Interpreter&, const Val& self, const Bound& args) {
  const auto& values = args.raw->positional;
  if (values.empty()) fail("no items for cycling given");
  return values[self.loop->index0 % values.size()];
}

Val method_changed(Interpreter& in, const Val& self, const Bound& args) {
  LoopObject& loop = *self.loop;
  const auto& now = args.raw->positional;
  bool changed = !loop.changed_before || now.size() != loop.last_changed.size();
  for (size_t i = 0; !changed && i < now.size(); ++i)
    changed = !equal(in.budget(), now[i], loop.last_changed[i]);
  if (changed) {
    loop.last_changed = now;
    loop.changed_before = true;
  }
  return Val::of(changed);
}

Val method_cycler_next(Interpreter&, const Val& self, const Bound&) {
  CyclerObject& cycler = *self.cycler;
  const Val current = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return current;
}

Val method_cycler_reset(Interpreter&, const Val& self, const Bound&) {
  self.cycler->position = 0;
  return Val::none();
}

constexpr FunctionObject kDictMethods[] = {
    {"get", "key,default", 1, method_get}, {"keys", "", 0, method_keys},
    {"values", "", 0, method_values},      {"items", "", 0, method_items},
    {"copy", "", 0, method_dict_copy},
};
constexpr FunctionObject kListMethods[] = {
    {"copy", "", 0, method_list_copy},
    {"count", "value", 1, method_list_count},
    {"index", "value", 1, method_list_index},
};
constexpr FunctionObject kLoopMethods[] = {
    {"cycle", "*", 0, method_cycle},
    {"changed", "*", 0, method_changed},
};
constexpr FunctionObject kCyclerMethods[] = {
    {"next", "", 0, method_cycler_next},
    {"reset", "", 0, method_cycler_reset},
};

}  // namespace

std::span<const FunctionObject> dict_methods() { return kDictMethods; }
std::span<const FunctionObject> list_methods() { return kListMethods; }
std::span<const FunctionObject> loop_methods() { return kLoopMethods; }
std::span<const FunctionObject> cycler_methods() { return kCyclerMethods; }

}  // namespace quire::jinja

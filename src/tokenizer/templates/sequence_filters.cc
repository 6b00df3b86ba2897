// Filters over sequences and mappings: first, last, list, sort, unique, min, max, dictsort, groupby, batch,
// ...
#include <algorithm>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/text_ops.h"

namespace quire::jinja {
namespace {

bool absent(const Val& value) { return !value.given() || value.is(Tag::kNone); }

// What comparing sorts by: strings in lower case unless the filter was told otherwise.
Val comparison_key(Interpreter& in, const Val& value, bool case_sensitive) {
  if (case_sensitive || !value.is(Tag::kString)) return value;
  return change_case(in.heap(), *value.text, LetterCase::kLower);
}

struct Keyed {
  std::vector<Val> key;
  Val item;
};

bool keys_less(Budget& budget, const std::vector<Val>& a, const std::vector<Val>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!equal(budget, a[i], b[i])) return less(budget, a[i], b[i]);
  }
  return false;
}

enum class Order { kAscending, kDescending };

// Stable in both directions, as Python's sort. A merge sort with a failing comparison is safe: it only
// unwinds.
void sort_keyed(Budget& budget, std::vector<Keyed>& items, Order order) {
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
    return order == Order::kAscending ? keys_less(budget, a.key, b.key) : keys_less(budget, b.key, a.key);
  });
}

std::vector<Val> items_of(std::vector<Keyed>& keyed) {
  std::vector<Val> items;
  for (Keyed& entry : keyed) items.push_back(entry.item);
  return items;
}

Val empty_undefined(Interpreter& in, const char* hint) {
  UndefinedObject reason;
  reason.hint = hint;
  return in.heap().undefined(std::move(reason));
}

Val filter_first(Interpreter& in, const Val& self, const Bound&) {
  if (self.is(Tag::kList)) {
    ListObject& list = *self.list;
    if (list.consumed >= list.items.size()) return empty_undefined(in, "No first item, sequence was empty.");
    const Val first = list.items[list.consumed];
    if (list.kind == ListKind::kIterator) ++list.consumed;
    return first;
  }
  if (self.is(Tag::kString) && self.text->size() > 0) {
    return in.heap().slice(*self.text, 0, character_offset(*self.text, 1));
  }
  const std::vector<Val> items = iterate(in.heap(), self);
  return items.empty() ? empty_undefined(in, "No first item, sequence was empty.") : items.front();
}

Val filter_last(Interpreter& in, const Val& self, const Bound&) {
  if (self.is(Tag::kList) && self.list->kind == ListKind::kIterator) {
    fail("'{}' object is not reversible", type_name(self));
  }
  const std::vector<Val> items = iterate(in.heap(), self);
  return items.empty() ? empty_undefined(in, "No last item, sequence was empty.") : items.back();
}

Origin origin_of(const Val& value) { return value.is(Tag::kString) ? value.text->origin() : value.origin; }

Val filter_list(Interpreter& in, const Val& self, const Bound&) {
  return in.heap().list(iterate(in.heap(), self), ListKind::kList, origin_of(self));
}

Val filter_reverse(Interpreter& in, const Val& self, const Bound&) {
  if (self.is(Tag::kString)) {
    return slice(in.heap(), self, SliceBounds{Val(), Val(), Val::of(int64_t{-1})});
  }
  const bool one_shot = self.is(Tag::kList) && self.list->kind == ListKind::kIterator;
  std::vector<Val> items = iterate(in.heap(), self);
  std::reverse(items.begin(), items.end());
  if (one_shot || self.is(Tag::kUndefined))
    return in.heap().list(std::move(items), ListKind::kList, self.origin);
  return in.heap().iterator(std::move(items), "list_reverseiterator", self.origin);
}

Val filter_sort(Interpreter& in, const Val& self, const Bound& args) {
  const bool case_sensitive = flag_or(args[1], false);
  std::vector<Keyed> keyed;
  for (const Val& item : iterate(in.heap(), self)) {
    Keyed entry{{}, item};
    if (absent(args[2])) {
      entry.key.push_back(comparison_key(in, item, case_sensitive));
    } else if (args[2].is(Tag::kString)) {
      const Val comma = in.heap().view(",", Origin::kTemplate);
      for (const Val& path : split(in.heap(), *args[2].text, comma.text, -1)) {
        entry.key.push_back(comparison_key(in, in.attribute_path(item, path), case_sensitive));
      }
    } else {
      entry.key.push_back(comparison_key(in, in.attribute_path(item, args[2]), case_sensitive));
    }
    keyed.push_back(std::move(entry));
  }
  sort_keyed(in.budget(), keyed, flag_or(args[0], false) ? Order::kDescending : Order::kAscending);
  return in.heap().list(items_of(keyed), ListKind::kList, origin_of(self));
}

Val filter_dictsort(Interpreter& in, const Val& self, const Bound& args) {
  require_defined(self);
  if (!self.is(Tag::kDict)) fail("'{}' object has no attribute 'items'", type_name(self));
  const bool case_sensitive = flag_or(args[0], false);
  const std::string_view by = args[1].given() ? require_text(args[1], "dictsort").view() : "key";
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : self.dict->entries) {
    Keyed entry;
    entry.key.push_back(comparison_key(in, by == "key" ? key : value, case_sensitive));
    entry.item = in.heap().list({key, value}, ListKind::kTuple, self.origin);
    keyed.push_back(std::move(entry));
  }
  sort_keyed(in.budget(), keyed, flag_or(args[2], false) ? Order::kDescending : Order::kAscending);
  return in.heap().list(items_of(keyed), ListKind::kList, self.origin);
}

Val filter_unique(Interpreter& in, const Val& self, const Bound& args) {
  const bool case_sensitive = flag_or(args[0], false);
  const Val seen = in.heap().dict();
  std::vector<Val> kept;
  for (const Val& item : iterate(in.heap(), self)) {
    const Val key =
        comparison_key(in, absent(args[1]) ? item : in.attribute_path(item, args[1]), case_sensitive);
    if (dict_find(in.budget(), *seen.dict, key) != nullptr) continue;
    dict_insert(in.budget(), *seen.dict, key, Val::none());
    kept.push_back(item);
  }
  return in.heap().iterator(std::move(kept), "generator", origin_of(self));
}

enum class Extreme { kMin, kMax };

template <Extreme extreme>
Val filter_extreme(Interpreter& in, const Val& self, const Bound& args) {
  const bool case_sensitive = flag_or(args[0], false);
  Val best;
  Val best_key;
  for (const Val& item : iterate(in.heap(), self)) {
    const Val key =
        comparison_key(in, absent(args[1]) ? item : in.attribute_path(item, args[1]), case_sensitive);
    const bool better = !best.given() || (extreme == Extreme::kMin ? less(in.budget(), key, best_key)
                                                                   : less(in.budget(), best_key, key, ">"));
    if (!better) continue;
    best = item;
    best_key = key;
  }
  return best.given() ? best : empty_undefined(in, "No aggregated item, sequence was empty.");
}

Val filter_items(Interpreter& in, const Val& self, const Bound&) {
  std::vector<Val> pairs;
  if (!self.is(Tag::kUndefined)) {
    if (!self.is(Tag::kDict)) fail("Can only get item pairs from a mapping.");
    for (const auto& [key, value] : self.dict->entries) {
      pairs.push_back(in.heap().list({key, value}, ListKind::kTuple, self.origin));
    }
  }
  return in.heap().iterator(std::move(pairs), "generator", self.origin);
}

Val filter_batch(Interpreter& in, const Val& self, const Bound& args) {
  const int64_t size = to_index(args[0], "linecount");
  std::vector<Val> batches;
  std::vector<Val> current;
  const auto flush = [&] {
    batches.push_back(in.heap().list(std::exchange(current, {}), ListKind::kList, origin_of(self)));
  };
  for (const Val& item : iterate(in.heap(), self)) {
    if (static_cast<int64_t>(current.size()) == size) flush();
    current.push_back(item);
  }
  if (!current.empty()) {
    while (!absent(args[1]) && static_cast<int64_t>(current.size()) < size) {
      in.budget().charge_memory(sizeof(Val));
      current.push_back(args[1]);
    }
    flush();
  }
  return in.heap().iterator(std::move(batches), "generator", origin_of(self));
}

Val filter_slice(Interpreter& in, const Val& self, const Bound& args) {
  const std::vector<Val> items = iterate(in.heap(), self);
  const int64_t slices = to_index(args[0], "slices");
  if (slices == 0) fail("integer division or modulo by zero");
  const auto size = static_cast<int64_t>(items.size());
  std::vector<Val> parts;
  int64_t begin = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t count = size / slices + (i < size % slices ? 1 : 0);
    std::vector<Val> part(items.begin() + begin, items.begin() + begin + count);
    begin += count;
    if (!absent(args[1]) && i >= size % slices) part.push_back(args[1]);
    parts.push_back(in.heap().list(std::move(part), ListKind::kList, origin_of(self)));
  }
  return in.heap().iterator(std::move(parts), "generator", origin_of(self));
}

Val filter_groupby(Interpreter& in, const Val& self, const Bound& args) {
  const bool case_sensitive = flag_or(args[2], false);
  const auto attribute = [&](const Val& item) { return in.attribute_path(item, args[0], args[1]); };
  std::vector<Keyed> keyed;
  for (const Val& item : iterate(in.heap(), self)) {
    keyed.push_back({{comparison_key(in, attribute(item), case_sensitive)}, item});
  }
  sort_keyed(in.budget(), keyed, Order::kAscending);
  std::vector<Val> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    std::vector<Val> members;
    size_t end = begin;
    while (end < keyed.size() && equal(in.budget(), keyed[end].key[0], keyed[begin].key[0])) {
      members.push_back(keyed[end++].item);
    }
    const Val name = attribute(members[0]);
    groups.push_back(
        in.heap().list({name, in.heap().list(std::move(members), ListKind::kList, origin_of(self))},
                       ListKind::kTuple, origin_of(self)));
    groups.back().list->is_group = true;
    begin = end;
  }
  return in.heap().list(std::move(groups), ListKind::kList, origin_of(self));
}

Val filter_default(Interpreter& in, const Val& self, const Bound& args) {
  if (!self.is(Tag::kUndefined) && (!flag_or(args[1], false) || truthy(self))) return self;
  return args[0].given() ? args[0] : in.heap().view("", Origin::kTemplate);
}

Val filter_attr(Interpreter& in, const Val& self, const Bound& args) {
  const Text& name = require_text(args[0], "attr");
  if (self.is(Tag::kDict) && find_method(self, name.view()) == nullptr) {
    return in.missing_attribute(self, name.view());
  }
  return in.attribute(self, name.view());
}

constexpr FunctionObject kFilters[] = {
    {"first", "", 0, filter_first},
    {"last", "", 0, filter_last},
    {"list", "", 0, filter_list},
    {"reverse", "", 0, filter_reverse},
    {"sort", "reverse,case_sensitive,attribute", 0, filter_sort},
    {"dictsort", "case_sensitive,by,reverse", 0, filter_dictsort},
    {"unique", "case_sensitive,attribute", 0, filter_unique},
    {"min", "case_sensitive,attribute", 0, filter_extreme<Extreme::kMin>},
    {"max", "case_sensitive,attribute", 0, filter_extreme<Extreme::kMax>},
    {"items", "", 0, filter_items},
    {"batch", "linecount,fill_with", 1, filter_batch},
    {"slice", "slices,fill_with", 1, filter_slice},
    {"groupby", "attribute,default,case_sensitive", 1, filter_groupby},
    {"default", "default_value,boolean", 0, filter_default},
    {"d", "default_value,boolean", 0, filter_default},
    {"attr", "name", 1, filter_attr},
};

}  // namespace

std::span<const FunctionObject> sequence_filters() { return kFilters; }

}  // namespace quire::jinja

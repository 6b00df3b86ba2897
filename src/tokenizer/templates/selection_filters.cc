// Filters that apply a filter or test to every item: map, select, reject, selectattr, rejectattr.
#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

Origin origin_of(const Val& value) { return value.is(Tag::kString) ? value.text->origin() : value.origin; }

Val named(const CallArguments& arguments, std::string_view name) {
  for (const auto& [key, value] : arguments.named) {
    if (key == name) return value;
  }
  return Val();
}

// What follows the first `used` positional arguments goes to the filter or test that is applied.
CallArguments rest_of(const CallArguments& arguments, size_t used) {
  CallArguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(used));
  return rest;
}

Val filter_map(Interpreter& in, const Val& self, const Bound& args) {
  const CallArguments& raw = *args.raw;
  std::vector<Val> items = truthy(self) ? iterate(in.heap(), self) : std::vector<Val>();
  const Val attribute = named(raw, "attribute");
  if (raw.positional.empty() && attribute.given()) {
    for (const auto& [name, value] : raw.named) {
      if (name != "attribute" && name != "default") fail("Unexpected keyword argument '{}'", name);
    }
    const Val fallback = named(raw, "default");
    for (Val& item : items) item = in.attribute_path(item, attribute, fallback);
  } else if (!items.empty()) {
    if (raw.positional.empty()) fail("map requires a filter argument");
    const Text& name = require_text(raw.positional[0], "map");
    const CallArguments rest = rest_of(raw, 1);
    for (Val& item : items) item = in.apply_filter(name.view(), item, rest);
  }
  return in.heap().iterator(std::move(items), "generator", origin_of(self));
}

enum class Keep { kPassing, kFailing };
enum class Subject { kItem, kAttribute };

template <Keep keep, Subject subject>
Val filter_select(Interpreter& in, const Val& self, const Bound& args) {
  const CallArguments& raw = *args.raw;
  std::vector<Val> kept;
  const std::vector<Val> items = truthy(self) ? iterate(in.heap(), self) : std::vector<Val>();
  constexpr size_t kOffset = subject == Subject::kAttribute ? 1 : 0;
  if (!items.empty() && raw.positional.size() < kOffset) fail("Missing parameter for attribute name");
  const bool has_test = raw.positional.size() > kOffset;
  const CallArguments rest = has_test ? rest_of(raw, kOffset + 1) : CallArguments();
  for (const Val& item : items) {
    const Val value = subject == Subject::kAttribute ? in.attribute_path(item, raw.positional[0]) : item;
    const bool passes =
        has_test ? in.apply_test(require_text(raw.positional[kOffset], "select").view(), value, rest)
                 : truthy(value);
    if (passes == (keep == Keep::kPassing)) kept.push_back(item);
  }
  return in.heap().iterator(std::move(kept), "generator", origin_of(self));
}

constexpr FunctionObject kFilters[] = {
    {"map", "*", 0, filter_map},
    {"select", "*", 0, filter_select<Keep::kPassing, Subject::kItem>},
    {"reject", "*", 0, filter_select<Keep::kFailing, Subject::kItem>},
    {"selectattr", "*", 0, filter_select<Keep::kPassing, Subject::kAttribute>},
    {"rejectattr", "*", 0, filter_select<Keep::kFailing, Subject::kAttribute>},
};

}  // namespace

std::span<const FunctionObject> selection_filters() { return kFilters; }

}  // namespace quire::jinja

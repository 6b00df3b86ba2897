// Global functions: range, dict, namespace, cycler, joiner, raise_exception, strftime_now.
#include <algorithm>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/clock.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

constexpr int64_t kMaxRange = 100000;  // the sandbox's own limit

Val global_raise_exception(Interpreter& in, const Val&, const Bound& args) {
  const Val text = to_text(in.heap(), args[0]);
  throw Failure{ErrorCode::kInvalidArgument, std::string(text.view()), 0, true};
}

Val global_strftime_now(Interpreter& in, const Val&, const Bound& args) {
  const Text& format = require_text(args[0], "strftime_now");
  if (!in.now()) fail("the template asks for the date, and the caller gave no clock");
  return in.heap().string(format_time(format.view(), *in.now()), format.origin());
}

Val global_range(Interpreter& in, const Val&, const Bound& args) {
  const bool one = !args[1].given();
  const int64_t start = one ? 0 : to_index(args[0], "range() argument");
  const int64_t stop = to_index(one ? args[0] : args[1], "range() argument");
  const int64_t step = args[2].given() ? to_index(args[2], "range() argument") : 1;
  if (step == 0) fail("range() arg 3 must not be zero");
  const auto span =
      static_cast<uint64_t>(step > 0 ? stop : start) - static_cast<uint64_t>(step > 0 ? start : stop);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : ~static_cast<uint64_t>(step) + 1;
  const bool empty = step > 0 ? start >= stop : start <= stop;
  const uint64_t count = empty ? 0 : (span - 1) / stride + 1;
  if (count > static_cast<uint64_t>(kMaxRange)) {
    fail(ErrorCode::kResourceExhausted, "range of more than {} numbers", kMaxRange);
  }
  in.budget().charge_steps(static_cast<int64_t>(count));
  std::vector<Val> items;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    items.push_back(
        Val::of(static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step))));
  }
  const Val range = in.heap().list(std::move(items), ListKind::kRange);
  range.list->start = start;
  range.list->stop = stop;
  range.list->step = step;
  return range;
}

// Fills `target` from dict(mapping or pairs, **names).
void fill(Interpreter& in, DictObject& target, const CallArguments& arguments, const char* function) {
  if (arguments.positional.size() > 1)
    fail("{} expected at most 1 argument, got {}", function, arguments.positional.size());
  if (!arguments.positional.empty()) {
    const Val& source = arguments.positional[0];
    if (source.is(Tag::kDict)) {
      for (const auto& [key, value] : source.dict->entries) dict_insert(in.budget(), target, key, value);
    } else {
      for (const Val& pair : iterate(in.heap(), source)) {
        const std::vector<Val> parts = iterate(in.heap(), pair);
        if (parts.size() != 2)
          fail("{} update sequence element has length {}; 2 is required", function, parts.size());
        dict_insert(in.budget(), target, parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) {
    dict_insert(in.budget(), target, in.heap().string(std::string(name), Origin::kTemplate), value);
  }
}

Val global_dict(Interpreter& in, const Val&, const Bound& args) {
  const CallArguments& raw = *args.raw;
  const Val result = in.heap().dict(raw.positional.empty() ? Origin::kTemplate : raw.positional[0].origin);
  fill(in, *result.dict, raw, "dict");
  return result;
}

Val global_namespace(Interpreter& in, const Val&, const Bound& args) {
  const Val result = in.heap().name_space();
  fill(in, *result.dict, *args.raw, "namespace");
  for (const auto& [key, value] : result.dict->entries) {
    if (key.is(Tag::kString) && key.view().starts_with('_')) {
      fail("cannot store underscore-prefixed attribute '{}' on a namespace", key.view());
    }
  }
  return result;
}

Val global_cycler(Interpreter& in, const Val&, const Bound& args) {
  if (args.raw->positional.empty()) fail("at least one item has to be provided");
  return in.heap().cycler(args.raw->positional);
}

Val global_joiner(Interpreter& in, const Val&, const Bound& args) {
  return in.heap().joiner(args[0].given() ? args[0] : in.heap().view(", ", Origin::kTemplate));
}

constexpr FunctionObject kGlobals[] = {
    {"raise_exception", "message", 1, global_raise_exception},
    {"strftime_now", "format", 1, global_strftime_now},
    {"range", "start,stop,step", 1, global_range},
    {"dict", "*", 0, global_dict},
    {"namespace", "*", 0, global_namespace},
    {"cycler", "*", 0, global_cycler},
    {"joiner", "sep", 0, global_joiner},
};

}  // namespace

std::span<const FunctionObject> global_functions() { return kGlobals; }

}  // namespace quire::jinja

#include "tokenizer/templates/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quire::jinja {
namespace {

bool is_integer(const Val& value) { return value.is(Tag::kInt) || value.is(Tag::kBool); }
int64_t integer_of(const Val& value) { return value.is(Tag::kBool) ? int64_t{value.boolean} : value.integer; }
double real_of(const Val& value) {
  return value.is(Tag::kFloat) ? value.real : static_cast<double>(integer_of(value));
}
bool is_arithmetic(const Val& value) { return is_integer(value) || value.is(Tag::kFloat); }

bool is_sequence_kind(const Val& value, ListKind kind) {
  return value.is(Tag::kList) && value.list->kind == kind;
}

// Lists compare with lists and tuples with tuples; a range equals a range; views compare like themselves.
bool equal_lists(Budget& budget, const ListObject& a, const ListObject& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.kind == ListKind::kIterator || a.kind == ListKind::kValues) return false;
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(budget, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_dicts(Budget& budget, const DictObject& a, const DictObject& b) {
  if (&a == &b) return true;
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Val* other = dict_find(budget, b, key);
    if (other == nullptr || !equal(budget, value, *other)) return false;
  }
  return true;
}

[[noreturn]] void bad_operands(const char* symbol, const Val& a, const Val& b) {
  require_defined(a);
  require_defined(b);
  fail("unsupported operand type(s) for {}: '{}' and '{}'", symbol, type_name(a), type_name(b));
}

[[noreturn]] void overflow() { fail(ErrorCode::kUnsupported, "integer result does not fit 64 bits"); }

const char* symbol_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kFloorDiv:
      return "//";
    case BinaryOp::kMod:
      return "%";
    case BinaryOp::kPow:
      return "** or pow()";
  }
  return "?";
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) fail("integer division or modulo by zero");
  if (a == std::numeric_limits<int64_t>::min() && b == -1) overflow();
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) fail("integer division or modulo by zero");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_mod(double a, double b) {
  if (b == 0) fail("float modulo by zero");
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double float_floor_div(double a, double b) {
  if (b == 0) fail("float floor division by zero");
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

Val integer_power(int64_t base, int64_t exponent, Origin origin) {
  if (exponent < 0) {
    if (base == 0) fail("0.0 cannot be raised to a negative power");
    return Val::of(std::pow(static_cast<double>(base), static_cast<double>(exponent)), origin);
  }
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) overflow();
  }
  return Val::of(result, origin);
}

Val arithmetic(BinaryOp op, const Val& a, const Val& b) {
  const Origin origin = merge(a.origin, b.origin);
  if (is_integer(a) && is_integer(b)) {
    const int64_t x = integer_of(a);
    const int64_t y = integer_of(b);
    int64_t result = 0;
    switch (op) {
      case BinaryOp::kAdd:
        if (__builtin_add_overflow(x, y, &result)) overflow();
        return Val::of(result, origin);
      case BinaryOp::kSub:
        if (__builtin_sub_overflow(x, y, &result)) overflow();
        return Val::of(result, origin);
      case BinaryOp::kMul:
        if (__builtin_mul_overflow(x, y, &result)) overflow();
        return Val::of(result, origin);
      case BinaryOp::kFloorDiv:
        return Val::of(floor_div(x, y), origin);
      case BinaryOp::kMod:
        return Val::of(floor_mod(x, y), origin);
      case BinaryOp::kPow:
        return integer_power(x, y, origin);
      case BinaryOp::kDiv:
        break;
    }
  }
  const double x = real_of(a);
  const double y = real_of(b);
  switch (op) {
    case BinaryOp::kAdd:
      return Val::of(x + y, origin);
    case BinaryOp::kSub:
      return Val::of(x - y, origin);
    case BinaryOp::kMul:
      return Val::of(x * y, origin);
    case BinaryOp::kDiv:
      if (y == 0) fail("division by zero");
      return Val::of(x / y, origin);
    case BinaryOp::kFloorDiv:
      return Val::of(float_floor_div(x, y), origin);
    case BinaryOp::kMod:
      return Val::of(float_mod(x, y), origin);
    case BinaryOp::kPow: {
      if (x == 0 && y < 0) fail("0.0 cannot be raised to a negative power");
      if (x < 0 && y != std::floor(y)) fail(ErrorCode::kUnsupported, "complex numbers are not supported");
      const double result = std::pow(x, y);
      if (std::isinf(result) && std::isfinite(x) && std::isfinite(y)) fail("numerical result out of range");
      return Val::of(result, origin);
    }
  }
  return Val();
}

Val repeat(Heap& heap, const Val& sequence, int64_t times) {
  times = std::max<int64_t>(times, 0);
  if (sequence.is(Tag::kString)) {
    const Text& text = *sequence.text;
    TextBuilder builder(heap.budget());
    if (text.size() == 0) return sequence;
    if (text.runs().empty()) {
      builder.append_repeated(text.view(), times, text.uniform_origin());
    } else {
      for (int64_t i = 0; i < times; ++i) {
        heap.budget().charge_steps(1);
        builder.append(text);
      }
    }
    return heap.string(std::move(builder));
  }
  const std::vector<Val>& items = sequence.list->items;
  std::vector<Val> out;
  if (!items.empty()) {
    size_t total = 0;
    if (__builtin_mul_overflow(items.size() * sizeof(Val), static_cast<size_t>(times), &total))
      total = SIZE_MAX;
    heap.budget().charge_memory(total);
    for (int64_t i = 0; i < times; ++i) {
      out.insert(out.end(), items.begin(), items.end());
    }
  }
  return heap.list(std::move(out), sequence.list->kind, sequence.origin);
}

bool repeatable(const Val& value) {
  return value.is(Tag::kString) || is_sequence_kind(value, ListKind::kList) ||
         is_sequence_kind(value, ListKind::kTuple);
}

}  // namespace

void require_defined(const Val& value) {
  if (value.is(Tag::kUndefined)) fail("{}", value.undefined->message());
}

void require_hashable(const Val& value) {
  if (is_sequence_kind(value, ListKind::kList) || value.is(Tag::kDict))
    fail("unhashable type: '{}'", type_name(value));
  if (is_sequence_kind(value, ListKind::kTuple)) {
    for (const Val& item : value.list->items) require_hashable(item);
  }
}

std::string type_name(const Val& value) {
  switch (value.tag) {
    case Tag::kMissing:
    case Tag::kUndefined:
      return "Undefined";
    case Tag::kNone:
      return "NoneType";
    case Tag::kBool:
      return "bool";
    case Tag::kInt:
    case Tag::kBigInt:
      return "int";
    case Tag::kFloat:
      return "float";
    case Tag::kString:
      return "str";
    case Tag::kDict:
      return "dict";
    case Tag::kNamespace:
      return "Namespace";
    case Tag::kMacro:
      return "Macro";
    case Tag::kFunction:
      return "function";
    case Tag::kMethod:
      return "builtin_function_or_method";
    case Tag::kLoop:
      return "LoopContext";
    case Tag::kCycler:
      return "Cycler";
    case Tag::kJoiner:
      return "Joiner";
    case Tag::kList:
      break;
  }
  switch (value.list->kind) {
    case ListKind::kList:
      return "list";
    case ListKind::kTuple:
      return "tuple";
    case ListKind::kIterator:
      return value.list->type_name;
    case ListKind::kRange:
      return "range";
    case ListKind::kKeys:
      return "dict_keys";
    case ListKind::kValues:
      return "dict_values";
    case ListKind::kItems:
      return "dict_items";
  }
  return "object";
}

bool truthy(const Val& value) {
  switch (value.tag) {
    case Tag::kMissing:
    case Tag::kUndefined:
    case Tag::kNone:
      return false;
    case Tag::kBool:
      return value.boolean;
    case Tag::kInt:
      return value.integer != 0;
    case Tag::kFloat:
      return value.real != 0;
    case Tag::kString:
      return value.text->size() != 0;
    case Tag::kDict:
      return !value.dict->entries.empty();
    case Tag::kList:
      return value.list->kind == ListKind::kIterator || !value.list->items.empty();
    case Tag::kLoop:
      return !value.loop->items.empty();
    default:
      return true;
  }
}

bool is_number(const Val& value) { return is_arithmetic(value) || value.is(Tag::kBigInt); }

bool equal(Budget& budget, const Val& a, const Val& b) {
  budget.charge_steps(1);
  if (is_arithmetic(a) && is_arithmetic(b)) {
    if (is_integer(a) && is_integer(b)) return integer_of(a) == integer_of(b);
    return real_of(a) == real_of(b);
  }
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case Tag::kUndefined:
    case Tag::kNone:
      return true;
    case Tag::kString:
    case Tag::kBigInt:
      if (a.text->size() != b.text->size()) return false;
      budget.charge_scan(a.text->size());
      return a.view() == b.view();
    case Tag::kList: {
      DepthGuard guard(budget);
      return equal_lists(budget, *a.list, *b.list);
    }
    case Tag::kDict: {
      DepthGuard guard(budget);
      return equal_dicts(budget, *a.dict, *b.dict);
    }
    default:
      return same_object(a, b);
  }
}

bool same_object(const Val& a, const Val& b) {
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case Tag::kNone:
      return true;
    case Tag::kBool:
      return a.boolean == b.boolean;
    case Tag::kInt:
      return a.integer == b.integer;
    case Tag::kFloat:
      return a.real == b.real;
    case Tag::kString:
    case Tag::kBigInt:
      return a.text == b.text || a.view() == b.view();
    case Tag::kMethod:
      return false;
    default:
      return a.list == b.list;  // all object pointers share the place in the union
  }
}

bool less(Budget& budget, const Val& a, const Val& b, const char* symbol) {
  budget.charge_steps(1);
  if (is_arithmetic(a) && is_arithmetic(b)) {
    if (is_integer(a) && is_integer(b)) return integer_of(a) < integer_of(b);
    return real_of(a) < real_of(b);
  }
  if (a.is(Tag::kString) && b.is(Tag::kString)) {
    budget.charge_scan(std::min(a.text->size(), b.text->size()));
    return a.view() < b.view();  // UTF-8 sorts as code points do
  }
  if (a.is(Tag::kList) && b.is(Tag::kList) && a.list->kind == b.list->kind &&
      (a.list->kind == ListKind::kList || a.list->kind == ListKind::kTuple)) {
    DepthGuard guard(budget);
    const auto& x = a.list->items;
    const auto& y = b.list->items;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!equal(budget, x[i], y[i])) return less(budget, x[i], y[i], symbol);
    }
    return x.size() < y.size();
  }
  require_defined(a);
  require_defined(b);
  fail("'{}' not supported between instances of '{}' and '{}'", symbol, type_name(a), type_name(b));
}

bool contains(Heap& heap, const Val& container, const Val& item) {
  Budget& budget = heap.budget();
  switch (container.tag) {
    case Tag::kUndefined:
      return false;
    case Tag::kString:
      if (!item.is(Tag::kString)) {
        fail("'in <string>' requires string as left operand, not {}", type_name(item));
      }
      budget.charge_search(container.text->size());
      return find_bytes(container.view(), item.view()) != std::string_view::npos;
    case Tag::kDict:
      return dict_find(budget, *container.dict, item) != nullptr;
    case Tag::kList: {
      if (container.list->kind == ListKind::kIterator) {
        // Looking for an item uses the iterator up to and including the find.
        ListObject& list = *container.list;
        while (list.consumed < list.items.size()) {
          if (equal(budget, list.items[list.consumed++], item)) return true;
        }
        return false;
      }
      for (const Val& candidate : container.list->items) {
        if (equal(budget, candidate, item)) return true;
      }
      return false;
    }
    default:
      fail("argument of type '{}' is not iterable", type_name(container));
  }
}

Val binary(Heap& heap, BinaryOp op, const Val& a, const Val& b) {
  if (is_arithmetic(a) && is_arithmetic(b)) return arithmetic(op, a, b);
  if (is_number(a) && is_number(b)) fail(ErrorCode::kUnsupported, "arithmetic on integers beyond 64 bits");
  if (op == BinaryOp::kAdd) {
    if (a.is(Tag::kString) && b.is(Tag::kString)) {
      TextBuilder builder(heap.budget());
      builder.append(*a.text);
      builder.append(*b.text);
      return heap.string(std::move(builder));
    }
    if (a.is(Tag::kList) && b.is(Tag::kList) && a.list->kind == b.list->kind && repeatable(a)) {
      heap.budget().charge_steps(static_cast<int64_t>(a.list->items.size() + b.list->items.size()));
      std::vector<Val> items = a.list->items;
      items.insert(items.end(), b.list->items.begin(), b.list->items.end());
      return heap.list(std::move(items), a.list->kind, merge(a.origin, b.origin));
    }
  }
  if (op == BinaryOp::kMul) {
    if (repeatable(a) && is_integer(b)) return repeat(heap, a, integer_of(b));
    if (is_integer(a) && repeatable(b)) return repeat(heap, b, integer_of(a));
  }
  bad_operands(symbol_of(op), a, b);
}

Val negate(const Val& value) {
  require_defined(value);
  if (is_integer(value)) {
    if (integer_of(value) == std::numeric_limits<int64_t>::min()) overflow();
    return Val::of(-integer_of(value), value.origin);
  }
  if (value.is(Tag::kFloat)) return Val::of(-value.real, value.origin);
  if (value.is(Tag::kBigInt)) fail(ErrorCode::kUnsupported, "arithmetic on integers beyond 64 bits");
  fail("bad operand type for unary -: '{}'", type_name(value));
}

Val plus(const Val& value) {
  require_defined(value);
  if (is_integer(value)) return Val::of(integer_of(value), value.origin);
  if (is_number(value)) return value;
  fail("bad operand type for unary +: '{}'", type_name(value));
}

bool has_length(const Val& value) {
  switch (value.tag) {
    case Tag::kUndefined:
    case Tag::kString:
    case Tag::kDict:
    case Tag::kLoop:
      return true;
    case Tag::kList:
      return value.list->kind != ListKind::kIterator;
    default:
      return false;
  }
}

int64_t length(const Val& value) {
  if (!has_length(value)) fail("object of type '{}' has no len()", type_name(value));
  switch (value.tag) {
    case Tag::kString:
      return static_cast<int64_t>(count_characters(*value.text));
    case Tag::kDict:
      return static_cast<int64_t>(value.dict->entries.size());
    case Tag::kList:
      return static_cast<int64_t>(value.list->items.size());
    case Tag::kLoop:
      return static_cast<int64_t>(value.loop->items.size());
    default:
      return 0;
  }
}

bool is_iterable(const Val& value) {
  return value.is(Tag::kUndefined) || value.is(Tag::kString) || value.is(Tag::kDict) || value.is(Tag::kList);
}

std::vector<Val> iterate(Heap& heap, const Val& value) {
  std::vector<Val> items;
  switch (value.tag) {
    case Tag::kUndefined:
      return items;
    case Tag::kString: {
      const Text& text = *value.text;
      for (size_t at = 0; at < text.size();) {
        const size_t next = character_offset(text, 1, at);
        items.push_back(heap.slice(text, at, next));
        at = next;
      }
      return items;
    }
    case Tag::kDict:
      heap.budget().charge_steps(static_cast<int64_t>(value.dict->entries.size()));
      for (const auto& [key, entry] : value.dict->entries) items.push_back(key);
      return items;
    case Tag::kList: {
      ListObject& list = *value.list;
      heap.budget().charge_steps(static_cast<int64_t>(list.items.size() - list.consumed));
      items.assign(list.items.begin() + static_cast<std::ptrdiff_t>(list.consumed), list.items.end());
      if (list.kind == ListKind::kIterator) list.consumed = list.items.size();
      return items;
    }
    default:
      fail("'{}' object is not iterable", type_name(value));
  }
}

int64_t to_index(const Val& value, const char* what) {
  require_defined(value);
  if (!is_integer(value)) fail("{} must be an integer, not '{}'", what, type_name(value));
  return integer_of(value);
}

}  // namespace quire::jinja

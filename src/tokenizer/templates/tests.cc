// The tests of `value is name(...)`.
#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

Val modulo(Interpreter& in, const Val& value, int64_t divisor) {
  return binary(in.heap(), BinaryOp::kMod, value, Val::of(divisor));
}

bool equals(Interpreter& in, const Val& a, const Val& b) { return equal(in.budget(), a, b); }

Val test_odd(Interpreter& in, const Val& self, const Bound&) {
  return Val::of(equals(in, modulo(in, self, 2), Val::of(int64_t{1})));
}
Val test_even(Interpreter& in, const Val& self, const Bound&) {
  return Val::of(equals(in, modulo(in, self, 2), Val::of(int64_t{0})));
}
Val test_divisibleby(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(equals(in, binary(in.heap(), BinaryOp::kMod, self, args[0]), Val::of(int64_t{0})));
}
Val test_defined(Interpreter&, const Val& self, const Bound&) { return Val::of(!self.is(Tag::kUndefined)); }
Val test_undefined(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kUndefined)); }
Val test_none(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kNone)); }
Val test_boolean(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kBool)); }
Val test_true(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.is(Tag::kBool) && self.boolean);
}
Val test_false(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.is(Tag::kBool) && !self.boolean);
}
Val test_integer(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.is(Tag::kInt) || self.is(Tag::kBigInt));
}
Val test_float(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kFloat)); }
Val test_number(Interpreter&, const Val& self, const Bound&) { return Val::of(is_number(self)); }
Val test_string(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kString)); }
Val test_mapping(Interpreter&, const Val& self, const Bound&) { return Val::of(self.is(Tag::kDict)); }
Val test_iterable(Interpreter&, const Val& self, const Bound&) {
  return Val::of(is_iterable(self) || self.is(Tag::kLoop));
}
Val test_sequence(Interpreter&, const Val& self, const Bound&) {
  if (self.is(Tag::kString) || self.is(Tag::kDict) || self.is(Tag::kUndefined)) return Val::of(true);
  if (!self.is(Tag::kList)) return Val::of(false);
  const ListKind kind = self.list->kind;
  return Val::of(kind == ListKind::kList || kind == ListKind::kTuple || kind == ListKind::kRange);
}
Val test_callable(Interpreter&, const Val& self, const Bound&) {
  // An undefined value has a __call__ (which fails), so Python calls it callable.
  return Val::of(self.is(Tag::kMacro) || self.is(Tag::kFunction) || self.is(Tag::kMethod) ||
                 self.is(Tag::kLoop) || self.is(Tag::kJoiner) || self.is(Tag::kUndefined));
}
Val test_sameas(Interpreter&, const Val& self, const Bound& args) {
  return Val::of(same_object(self, args[0]));
}
Val test_escaped(Interpreter&, const Val&, const Bound&) { return Val::of(false); }
Val test_in(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(contains(in.heap(), args[0], self));
}
Val test_filter(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.is(Tag::kString) && find_filter(self.view()) != nullptr);
}
Val test_test(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.is(Tag::kString) && find_test(self.view()) != nullptr);
}

enum class Wanted { kLower, kUpper };

// At least one cased character, and none of the other case.
template <Wanted wanted>
Val test_case(Interpreter& in, const Val& self, const Bound&) {
  const Val text = to_text(in.heap(), self);
  in.budget().charge_scan(text.text->size());
  bool any = false;
  for (size_t at = 0; at < text.text->size();) {
    const Character c = character_at(text.view(), at);
    at += c.length;
    const bool lower = is_lower(c.code_point);
    const bool other = is_upper(c.code_point) || is_title(c.code_point);
    if (wanted == Wanted::kLower ? other : lower || is_title(c.code_point)) return Val::of(false);
    any = any || lower || other;
  }
  return Val::of(any);
}

Val test_eq(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(equals(in, self, args[0]));
}
Val test_ne(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(!equals(in, self, args[0]));
}
Val test_lt(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(in.compare(CompareOp::kLt, self, args[0]));
}
Val test_le(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(in.compare(CompareOp::kLe, self, args[0]));
}
Val test_gt(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(in.compare(CompareOp::kGt, self, args[0]));
}
Val test_ge(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(in.compare(CompareOp::kGe, self, args[0]));
}

constexpr FunctionObject kTests[] = {
    {"odd", "", 0, test_odd},
    {"even", "", 0, test_even},
    {"divisibleby", "num", 1, test_divisibleby},
    {"defined", "", 0, test_defined},
    {"undefined", "", 0, test_undefined},
    {"filter", "", 0, test_filter},
    {"test", "", 0, test_test},
    {"none", "", 0, test_none},
    {"boolean", "", 0, test_boolean},
    {"false", "", 0, test_false},
    {"true", "", 0, test_true},
    {"integer", "", 0, test_integer},
    {"float", "", 0, test_float},
    {"lower", "", 0, test_case<Wanted::kLower>},
    {"upper", "", 0, test_case<Wanted::kUpper>},
    {"string", "", 0, test_string},
    {"mapping", "", 0, test_mapping},
    {"number", "", 0, test_number},
    {"sequence", "", 0, test_sequence},
    {"iterable", "", 0, test_iterable},
    {"callable", "", 0, test_callable},
    {"sameas", "other", 1, test_sameas},
    {"escaped", "", 0, test_escaped},
    {"in", "seq", 1, test_in},
    {"==", "other", 1, test_eq},
    {"eq", "other", 1, test_eq},
    {"equalto", "other", 1, test_eq},
    {"!=", "other", 1, test_ne},
    {"ne", "other", 1, test_ne},
    {">", "other", 1, test_gt},
    {"gt", "other", 1, test_gt},
    {"greaterthan", "other", 1, test_gt},
    {">=", "other", 1, test_ge},
    {"ge", "other", 1, test_ge},
    {"<", "other", 1, test_lt},
    {"lt", "other", 1, test_lt},
    {"lessthan", "other", 1, test_lt},
    {"<=", "other", 1, test_le},
    {"le", "other", 1, test_le},
};

}  // namespace

std::span<const FunctionObject> test_functions() { return kTests; }

}  // namespace quire::jinja

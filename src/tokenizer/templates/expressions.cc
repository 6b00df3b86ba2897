// The expression half of the interpreter.
#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/format.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {

Val Interpreter::evaluate(const Expr& expr, Scope* scope) {
  DepthGuard guard(budget());
  budget().charge_steps(1);
  switch (expr.kind) {
    case ExprKind::kString:
      return Val::of(&static_cast<const StringExpr&>(expr).text);
    case ExprKind::kInteger:
      return Val::of(static_cast<const IntegerExpr&>(expr).value);
    case ExprKind::kBigInteger:
      return heap_.big_integer(static_cast<const BigIntegerExpr&>(expr).digits, Origin::kTemplate);
    case ExprKind::kFloat:
      return Val::of(static_cast<const FloatExpr&>(expr).value);
    case ExprKind::kBool:
      return Val::of(static_cast<const BoolExpr&>(expr).value);
    case ExprKind::kNone:
      return Val::none();
    case ExprKind::kName:
      return evaluate_name(static_cast<const NameExpr&>(expr), scope);
    case ExprKind::kTuple:
    case ExprKind::kList:
      return evaluate_sequence(static_cast<const SequenceExpr&>(expr), scope);
    case ExprKind::kConcat:
      return evaluate_concat(static_cast<const SequenceExpr&>(expr), scope);
    case ExprKind::kDict:
      return evaluate_dict(static_cast<const DictExpr&>(expr), scope);
    case ExprKind::kBinary:
      return evaluate_binary(static_cast<const BinaryExpr&>(expr), scope);
    case ExprKind::kNegate:
      return negate(evaluate(*static_cast<const UnaryExpr&>(expr).operand, scope));
    case ExprKind::kPlus:
      return plus(evaluate(*static_cast<const UnaryExpr&>(expr).operand, scope));
    case ExprKind::kNot:
      return Val::of(!truthy(evaluate(*static_cast<const UnaryExpr&>(expr).operand, scope)));
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const auto& logic = static_cast<const LogicExpr&>(expr);
      const Val left = evaluate(*logic.left, scope);
      return truthy(left) == (expr.kind == ExprKind::kOr) ? left : evaluate(*logic.right, scope);
    }
    case ExprKind::kCompare:
      return evaluate_compare(static_cast<const CompareExpr&>(expr), scope);
    case ExprKind::kConditional:
      return evaluate_conditional(static_cast<const ConditionalExpr&>(expr), scope);
    case ExprKind::kAttribute: {
      const auto& access = static_cast<const AttributeExpr&>(expr);
      const Val object = evaluate(*access.object, scope);
      line_ = expr.line;
      return attribute(object, access.name.view());
    }
    case ExprKind::kItem:
      return evaluate_item(static_cast<const ItemExpr&>(expr), scope);
    case ExprKind::kSlice:
      fail("a slice is only possible as a subscript");
    case ExprKind::kCall:
      return evaluate_call(static_cast<const CallExpr&>(expr), scope);
    case ExprKind::kFilter:
    case ExprKind::kTest:
      return evaluate_apply(static_cast<const ApplyExpr&>(expr), scope);
  }
  return Val();
}

Val Interpreter::evaluate_name(const NameExpr& expr, Scope* scope) {
  for (const Scope* s = scope; s != nullptr; s = s->parent) {
    for (const auto& [symbol, value] : s->variables) {
      if (symbol == expr.symbol) return value;
    }
  }
  UndefinedObject reason;
  reason.name = tree_.symbols[expr.symbol];
  return heap_.undefined(std::move(reason));
}

Val Interpreter::evaluate_sequence(const SequenceExpr& expr, Scope* scope) {
  std::vector<Val> items;
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items) items.push_back(evaluate(*item, scope));
  return heap_.list(std::move(items), expr.kind == ExprKind::kTuple ? ListKind::kTuple : ListKind::kList);
}

Val Interpreter::evaluate_concat(const SequenceExpr& expr, Scope* scope) {
  TextBuilder builder(budget());
  for (const Expr* item : expr.items) append_text(builder, evaluate(*item, scope));
  return heap_.string(std::move(builder));
}

Val Interpreter::evaluate_dict(const DictExpr& expr, Scope* scope) {
  const Val result = heap_.dict();
  for (const auto& [key, value] : expr.items) {
    const Val k = evaluate(*key, scope);
    dict_insert(budget(), *result.dict, k, evaluate(*value, scope));
  }
  return result;
}

Val Interpreter::evaluate_binary(const BinaryExpr& expr, Scope* scope) {
  const Val left = evaluate(*expr.left, scope);
  const Val right = evaluate(*expr.right, scope);
  line_ = expr.line;
  if (expr.op == BinaryOp::kMod && left.is(Tag::kString)) return percent_format(heap_, *left.text, right);
  return binary(heap_, expr.op, left, right);
}

bool Interpreter::compare(CompareOp op, const Val& a, const Val& b) {
  switch (op) {
    case CompareOp::kEq:
      return equal(budget(), a, b);
    case CompareOp::kNe:
      return !equal(budget(), a, b);
    case CompareOp::kLt:
      return less(budget(), a, b, "<");
    case CompareOp::kGt:
      return less(budget(), b, a, ">");
    case CompareOp::kLe:
      return less(budget(), a, b, "<=") || equal(budget(), a, b);
    case CompareOp::kGe:
      return less(budget(), b, a, ">=") || equal(budget(), a, b);
    case CompareOp::kIn:
      return contains(heap_, b, a);
    case CompareOp::kNotIn:
      return !contains(heap_, b, a);
  }
  return false;
}

Val Interpreter::evaluate_compare(const CompareExpr& expr, Scope* scope) {
  Val left = evaluate(*expr.first, scope);
  for (const auto& [op, operand] : expr.rest) {
    const Val right = evaluate(*operand, scope);
    line_ = expr.line;
    if (!compare(op, left, right)) return Val::of(false);
    left = right;
  }
  return Val::of(true);
}

Val Interpreter::evaluate_conditional(const ConditionalExpr& expr, Scope* scope) {
  if (truthy(evaluate(*expr.condition, scope))) return evaluate(*expr.then, scope);
  if (expr.otherwise != nullptr) return evaluate(*expr.otherwise, scope);
  UndefinedObject reason;
  reason.hint =
      fmt::format("the inline if-expression on line {} evaluated to false and has no else", expr.line);
  return heap_.undefined(std::move(reason));
}

Val Interpreter::evaluate_item(const ItemExpr& expr, Scope* scope) {
  const Val object = evaluate(*expr.object, scope);
  if (expr.index->kind != ExprKind::kSlice) {
    const Val key = evaluate(*expr.index, scope);
    line_ = expr.line;
    return item(object, key);
  }
  const auto& bounds = static_cast<const SliceExpr&>(*expr.index);
  SliceBounds values;
  if (bounds.start != nullptr) values.start = evaluate(*bounds.start, scope);
  if (bounds.stop != nullptr) values.stop = evaluate(*bounds.stop, scope);
  if (bounds.step != nullptr) values.step = evaluate(*bounds.step, scope);
  line_ = expr.line;
  require_defined(object);
  const Val part = slice(heap_, object, values);
  if (!part.given()) fail("'{}' object cannot be sliced", type_name(object));
  return part;
}

CallArguments Interpreter::evaluate_arguments(const Arguments& arguments, Scope* scope) {
  CallArguments values;
  for (const Argument& argument : arguments.list) {
    const Val value = evaluate(*argument.value, scope);
    if (argument.name.empty()) {
      values.positional.push_back(value);
    } else {
      values.named.emplace_back(argument.name, value);
    }
  }
  if (arguments.star != nullptr) {
    for (const Val& value : iterate(heap_, evaluate(*arguments.star, scope)))
      values.positional.push_back(value);
  }
  if (arguments.double_star != nullptr) {
    const Val mapping = evaluate(*arguments.double_star, scope);
    if (!mapping.is(Tag::kDict)) fail("argument after ** must be a mapping, not {}", type_name(mapping));
    for (const auto& [key, value] : mapping.dict->entries) {
      if (!key.is(Tag::kString)) fail("keywords must be strings");
      for (const auto& [name, other] : values.named) {
        if (name == key.view()) fail("got multiple values for keyword argument '{}'", name);
      }
      values.named.emplace_back(key.view(), value);
    }
  }
  return values;
}

Val Interpreter::evaluate_call(const CallExpr& expr, Scope* scope) {
  const Val callee = evaluate(*expr.callee, scope);
  const CallArguments arguments = evaluate_arguments(expr.arguments, scope);
  line_ = expr.line;
  const Val result = call(callee, arguments);
  line_ = expr.line;
  return result;
}

Val Interpreter::evaluate_apply(const ApplyExpr& expr, Scope* scope) {
  const Val operand = evaluate(*expr.operand, scope);
  const CallArguments arguments = evaluate_arguments(expr.arguments, scope);
  line_ = expr.line;
  if (expr.kind == ExprKind::kTest) return Val::of(apply_test(expr.name, operand, arguments));
  return apply_filter(expr.name, operand, arguments);
}

Val Interpreter::apply_chain(const Expr& chain, const Val& text, Scope* scope) {
  const auto& filter = static_cast<const ApplyExpr&>(chain);
  DepthGuard guard(budget());
  const Val operand = filter.operand == nullptr ? text : apply_chain(*filter.operand, text, scope);
  const CallArguments arguments = evaluate_arguments(filter.arguments, scope);
  line_ = filter.line;
  return apply_filter(filter.name, operand, arguments);
}

Val Interpreter::apply_filter(std::string_view name, const Val& operand, const CallArguments& arguments) {
  DepthGuard guard(budget());
  budget().charge_steps(1);
  const FunctionObject* filter = find_filter(name);
  if (filter == nullptr) fail(ErrorCode::kUnsupported, "no filter named '{}'", name);
  return filter->call(*this, operand, bind(*filter, arguments));
}

bool Interpreter::apply_test(std::string_view name, const Val& operand, const CallArguments& arguments) {
  budget().charge_steps(1);
  const FunctionObject* test = find_test(name);
  if (test == nullptr) fail(ErrorCode::kUnsupported, "no test named '{}'", name);
  return truthy(test->call(*this, operand, bind(*test, arguments)));
}

Val Interpreter::call(const Val& callee, const CallArguments& arguments) {
  DepthGuard guard(budget());
  switch (callee.tag) {
    case Tag::kMacro:
      return invoke_macro(*callee.macro, arguments);
    case Tag::kFunction:
      return callee.function->call(*this, Val(), bind(*callee.function, arguments));
    case Tag::kMethod: {
      const FunctionObject& function = *callee.method->function;
      return function.call(*this, callee.method->self, bind(function, arguments));
    }
    case Tag::kLoop:
      return call_loop(*callee.loop, arguments);
    case Tag::kJoiner:
      if (callee.joiner->used) return callee.joiner->separator;
      callee.joiner->used = true;
      return heap_.view("", Origin::kTemplate);
    default:
      break;
  }
  require_defined(callee);
  fail("'{}' object is not callable", type_name(callee));
}

}  // namespace quire::jinja

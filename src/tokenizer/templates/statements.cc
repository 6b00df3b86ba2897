// The statement half of the interpreter, macro calls and assignment.
#include <algorithm>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"

namespace quire::jinja {

void set_variable(Scope& scope, SymbolId symbol, const Val& value) {
  for (auto& [name, current] : scope.variables) {
    if (name == symbol) {
      current = value;
      return;
    }
  }
  scope.variables.emplace_back(symbol, value);
}

Interpreter::Interpreter(const Tree& tree, Heap& heap, const std::optional<LocalTime>& now)
    : tree_(tree), heap_(heap), now_(now), globals_(heap.scope(nullptr)) {
  for (const FunctionObject& function : global_functions()) define(function.name, heap_.function(&function));
}

void Interpreter::define(std::string_view name, const Val& value) {
  const auto symbol = tree_.symbol_ids.find(name);
  if (symbol != tree_.symbol_ids.end()) set_variable(*globals_, symbol->second, value);
}

void Interpreter::render(TextBuilder& out) {
  try {
    run(tree_.body, heap_.scope(globals_), out);
  } catch (Failure& failure) {
    if (failure.line == 0) failure.line = line_;
    throw;
  }
}

Interpreter::Flow Interpreter::run(const Body& body, Scope* scope, TextBuilder& out) {
  DepthGuard guard(budget());
  for (const Stmt* statement : body) {
    const Flow flow = run(*statement, scope, out);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const Stmt& statement, Scope* scope, TextBuilder& out) {
  budget().charge_steps(1);
  line_ = statement.line;
  switch (statement.kind) {
    case StmtKind::kData:
      out.append(static_cast<const DataStmt&>(statement).text);
      break;
    case StmtKind::kPrint: {
      const Val value = evaluate(*static_cast<const PrintStmt&>(statement).value, scope);
      append_text(out, value);
      break;
    }
    case StmtKind::kIf:
      return run_if(static_cast<const IfNode&>(statement), scope, out);
    case StmtKind::kFor: {
      const auto& node = static_cast<const ForNode&>(statement);
      std::vector<Val> items = iterate(heap_, evaluate(*node.iterable, scope));
      run_for(node, std::move(items), scope, out, 0);
      break;
    }
    case StmtKind::kSet: {
      const auto& node = static_cast<const SetStmt&>(statement);
      const Val value = evaluate(*node.value, scope);
      line_ = statement.line;
      assign(node.target, value, scope);
      break;
    }
    case StmtKind::kSetBlock:
      run_set_block(static_cast<const SetBlockStmt&>(statement), scope);
      break;
    case StmtKind::kMacro: {
      const auto& node = static_cast<const MacroNode&>(statement);
      set_variable(*scope, node.symbol, heap_.macro(&node, scope));
      break;
    }
    case StmtKind::kCallBlock:
      run_call_block(static_cast<const CallBlockStmt&>(statement), scope, out);
      break;
    case StmtKind::kFilterBlock:
      run_filter_block(static_cast<const FilterBlockStmt&>(statement), scope, out);
      break;
    case StmtKind::kWith:
      return run_with(static_cast<const WithStmt&>(statement), scope, out);
    case StmtKind::kScope:
      return run(static_cast<const ScopeStmt&>(statement).body, heap_.scope(scope), out);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_if(const IfNode& node, Scope* scope, TextBuilder& out) {
  for (const auto& [condition, body] : node.branches) {
    if (truthy(evaluate(*condition, scope))) return run(body, scope, out);
  }
  return run(node.otherwise, scope, out);
}

std::vector<Val> Interpreter::selected(const ForNode& node, std::vector<Val> items, Scope* scope) {
  if (node.test == nullptr) return items;
  std::vector<Val> kept;
  Scope* test_scope = heap_.scope(scope);
  for (const Val& item : items) {
    assign(node.target, item, test_scope);
    if (truthy(evaluate(*node.test, test_scope))) kept.push_back(item);
  }
  return kept;
}

void Interpreter::run_for(const ForNode& node, std::vector<Val> items, Scope* scope, TextBuilder& out,
                          int depth0) {
  items = selected(node, std::move(items), scope);
  if (items.empty()) {
    run(node.otherwise, heap_.scope(scope), out);
    return;
  }
  LoopObject* loop = heap_.loop();
  loop->node = &node;
  loop->scope = scope;
  loop->items = std::move(items);
  loop->depth0 = depth0;
  Val loop_value = Val::none();
  loop_value.tag = Tag::kLoop;
  loop_value.loop = loop;
  Scope* inner = heap_.scope(scope);
  for (size_t i = 0; i < loop->items.size(); ++i) {
    budget().charge_steps(1);
    loop->index0 = i;
    // Every iteration starts with fresh variables; a macro that was defined in one keeps that one's.
    if (inner->captured) {
      inner = heap_.scope(scope);
    } else {
      inner->variables.clear();
    }
    set_variable(*inner, kLoopSymbol, loop_value);
    line_ = node.line;
    assign(node.target, loop->items[i], inner);
    if (run(node.body, inner, out) == Flow::kBreak) break;
  }
}

void Interpreter::run_set_block(const SetBlockStmt& node, Scope* scope) {
  Val text = capture(node.body, heap_.scope(scope));
  if (node.filter != nullptr) text = apply_chain(*node.filter, text, scope);
  assign(node.target, text, scope);
}

void Interpreter::run_call_block(const CallBlockStmt& node, Scope* scope, TextBuilder& out) {
  const Val callee = evaluate(*node.call->callee, scope);
  CallArguments arguments = evaluate_arguments(node.call->arguments, scope);
  arguments.named.emplace_back("caller", heap_.macro(node.caller, scope));
  line_ = node.line;
  append_text(out, call(callee, arguments));
}

void Interpreter::run_filter_block(const FilterBlockStmt& node, Scope* scope, TextBuilder& out) {
  Scope* inner = heap_.scope(scope);
  const Val text = capture(node.body, inner);
  append_text(out, apply_chain(*node.filter, text, inner));
}

Interpreter::Flow Interpreter::run_with(const WithStmt& node, Scope* scope, TextBuilder& out) {
  Scope* inner = heap_.scope(scope);
  for (const auto& [target, value] : node.bindings) assign(target, evaluate(*value, scope), inner);
  return run(node.body, inner, out);
}

Val Interpreter::capture(const Body& body, Scope* scope) {
  TextBuilder builder(budget());
  run(body, scope, builder);
  return heap_.string(std::move(builder));
}

void Interpreter::assign(const Target& target, const Val& value, Scope* scope) {
  if (target.is_tuple) {
    if (!is_iterable(value)) fail("cannot unpack non-iterable {} object", type_name(value));
    const std::vector<Val> items = iterate(heap_, value);
    const size_t wanted = target.elements.size();
    if (items.size() < wanted)
      fail("not enough values to unpack (expected {}, got {})", wanted, items.size());
    if (items.size() > wanted) fail("too many values to unpack (expected {})", wanted);
    for (size_t i = 0; i < wanted; ++i) assign(target.elements[i], items[i], scope);
    return;
  }
  if (target.attribute.empty()) return set_variable(*scope, target.symbol, value);
  Val holder;
  for (const Scope* s = scope; s != nullptr && !holder.given(); s = s->parent) {
    for (const auto& [symbol, current] : s->variables) {
      if (symbol == target.symbol) holder = current;
    }
  }
  if (!holder.is(Tag::kNamespace)) fail("cannot assign attribute on non-namespace object");
  if (target.attribute.starts_with('_')) {
    fail("cannot store underscore-prefixed attribute '{}' on a namespace", target.attribute);
  }
  dict_insert(budget(), *holder.dict, heap_.view(target.attribute, Origin::kTemplate), value);
}

void Interpreter::bind_parameters(const MacroNode& node, const CallArguments& arguments, Scope* scope) {
  const size_t count = node.parameters.size();
  std::vector<std::pair<std::string_view, Val>> named = arguments.named;
  const auto take = [&](std::string_view name) {
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == named.end()) return Val();
    const Val value = found->second;
    named.erase(found);
    return value;
  };
  const size_t first_default = count - node.defaults.size();
  bool explicit_caller = false;
  for (size_t i = 0; i < count; ++i) {
    const auto& [name, symbol] = node.parameters[i];
    explicit_caller = explicit_caller || symbol == kCallerSymbol;
    Val value = i < arguments.positional.size() ? arguments.positional[i] : take(name);
    if (!value.given() && i >= first_default) value = evaluate(*node.defaults[i - first_default], scope);
    if (!value.given()) {
      UndefinedObject reason;
      reason.hint = fmt::format("parameter '{}' was not provided", name);
      value = heap_.undefined(std::move(reason));
    }
    set_variable(*scope, symbol, value);
  }
  if (node.uses_caller && !explicit_caller) {
    Val caller = take("caller");
    if (!caller.given() || caller.is(Tag::kNone)) {
      UndefinedObject reason;
      reason.hint = "No caller defined";
      caller = heap_.undefined(std::move(reason));
    }
    set_variable(*scope, kCallerSymbol, caller);
  }
  if (node.uses_kwargs) {
    const Val rest = heap_.dict();
    for (const auto& [name, value] : named) {
      dict_insert(budget(), *rest.dict, heap_.string(std::string(name), Origin::kTemplate), value);
    }
    set_variable(*scope, kKwargsSymbol, rest);
  } else if (!named.empty()) {
    fail("macro '{}' takes no keyword argument '{}'", node.name, named[0].first);
  }
  const size_t used = std::min(count, arguments.positional.size());
  if (node.uses_varargs) {
    const auto begin = arguments.positional.begin() + static_cast<std::ptrdiff_t>(used);
    set_variable(*scope, kVarargsSymbol,
                 heap_.list(std::vector<Val>(begin, arguments.positional.end()), ListKind::kTuple));
  } else if (arguments.positional.size() > count) {
    fail("macro '{}' takes not more than {} argument(s)", node.name, count);
  }
}

Val Interpreter::invoke_macro(const MacroObject& macro, const CallArguments& arguments) {
  Scope* scope = heap_.scope(macro.scope);
  bind_parameters(*macro.node, arguments, scope);
  return capture(macro.node->body, scope);
}

Val Interpreter::call_loop(const LoopObject& loop, const CallArguments& arguments) {
  if (!loop.node->recursive) fail("the loop must be marked 'recursive' to be called");
  if (arguments.positional.size() != 1 || !arguments.named.empty())
    fail("a recursive loop takes one argument");
  TextBuilder builder(budget());
  run_for(*loop.node, iterate(heap_, arguments.positional[0]), loop.scope, builder, loop.depth0 + 1);
  return heap_.string(std::move(builder));
}

}  // namespace quire::jinja

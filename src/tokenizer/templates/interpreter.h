// Interpreter: runs one Tree once.
//
// Lives for one render on one thread; borrows the Tree, the Heap (with its Budget) and the clock. Statements
// write to a TextBuilder, expressions give Vals. Failures leave as exceptions with the template's line.
#pragma once

#include <optional>
#include <string_view>

#include "tokenizer/templates/ast.h"
#include "tokenizer/templates/clock.h"
#include "tokenizer/templates/object.h"

namespace quire::jinja {

class Interpreter {
 public:
  Interpreter(const Tree& tree, Heap& heap, const std::optional<LocalTime>& now);

  Heap& heap() { return heap_; }
  Budget& budget() { return heap_.budget(); }
  const std::optional<LocalTime>& now() const { return now_; }

  // Makes a variable visible to the template; names it never mentions are ignored.
  void define(std::string_view name, const Val& value);
  bool mentions(std::string_view name) const { return tree_.symbol_ids.contains(name); }

  void render(TextBuilder& out);

  // What builtins need.
  Val call(const Val& callee, const CallArguments& arguments);
  Val attribute(const Val& object, std::string_view name);  // object.name
  Val item(const Val& object, const Val& key);              // object[key]
  Val missing_attribute(const Val& object, std::string_view name);
  // "a.b.0" or an index, looked up step by step as object[part]; an undefined step becomes `fallback` when
  // given.
  Val attribute_path(const Val& object, const Val& path, const Val& fallback = Val());
  Val apply_filter(std::string_view name, const Val& operand, const CallArguments& arguments);
  bool apply_test(std::string_view name, const Val& operand, const CallArguments& arguments);
  bool compare(CompareOp op, const Val& a, const Val& b);

 private:
  enum class Flow { kNext, kBreak, kContinue };

  // statements.cc
  Flow run(const Body& body, Scope* scope, TextBuilder& out);
  Flow run(const Stmt& statement, Scope* scope, TextBuilder& out);
  Flow run_if(const IfNode& node, Scope* scope, TextBuilder& out);
  void run_for(const ForNode& node, std::vector<Val> items, Scope* scope, TextBuilder& out, int depth0);
  void run_set_block(const SetBlockStmt& node, Scope* scope);
  void run_call_block(const CallBlockStmt& node, Scope* scope, TextBuilder& out);
  void run_filter_block(const FilterBlockStmt& node, Scope* scope, TextBuilder& out);
  Flow run_with(const WithStmt& node, Scope* scope, TextBuilder& out);
  Val capture(const Body& body, Scope* scope);
  std::vector<Val> selected(const ForNode& node, std::vector<Val> items, Scope* scope);
  void assign(const Target& target, const Val& value, Scope* scope);
  Val invoke_macro(const MacroObject& macro, const CallArguments& arguments);
  void bind_parameters(const MacroNode& node, const CallArguments& arguments, Scope* scope);
  Val call_loop(const LoopObject& loop, const CallArguments& arguments);

  // expressions.cc
  Val evaluate(const Expr& expr, Scope* scope);
  Val evaluate_name(const NameExpr& expr, Scope* scope);
  Val evaluate_sequence(const SequenceExpr& expr, Scope* scope);
  Val evaluate_concat(const SequenceExpr& expr, Scope* scope);
  Val evaluate_dict(const DictExpr& expr, Scope* scope);
  Val evaluate_binary(const BinaryExpr& expr, Scope* scope);
  Val evaluate_compare(const CompareExpr& expr, Scope* scope);
  Val evaluate_conditional(const ConditionalExpr& expr, Scope* scope);
  Val evaluate_item(const ItemExpr& expr, Scope* scope);
  Val evaluate_call(const CallExpr& expr, Scope* scope);
  Val evaluate_apply(const ApplyExpr& expr, Scope* scope);
  CallArguments evaluate_arguments(const Arguments& arguments, Scope* scope);
  // Filters of a filter or set block, applied to its text.
  Val apply_chain(const Expr& chain, const Val& text, Scope* scope);

  Val loop_attribute(const LoopObject& loop, std::string_view name);
  Val macro_attribute(const MacroObject& macro, std::string_view name);

  const Tree& tree_;
  Heap& heap_;
  const std::optional<LocalTime>& now_;
  Scope* globals_;
  int line_ = 1;
};

// Sets or replaces a variable of this very scope.
void set_variable(Scope& scope, SymbolId symbol, const Val& value);

}  // namespace quire::jinja

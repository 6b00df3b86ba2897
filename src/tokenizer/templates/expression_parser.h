// ExpressionParser: the expression half of the grammar (precedence from `if/else` down to literals).
//
// Adds nodes to a Tree that outlives it; used by one thread while parsing. Every node knows its height, and
// both recursion and height are limited, so neither parsing nor evaluating can exhaust the stack.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/templates/ast.h"
#include "tokenizer/templates/token_stream.h"

namespace quire::jinja {

enum class Conditional { kAllowed, kForbidden };

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& stream, Tree& tree) : stream_(stream), tree_(tree) {}

  const Expr* expression(Conditional conditional = Conditional::kAllowed);
  // One expression, or a tuple when commas follow. `stop` is a name that ends it as well ("" for none).
  const Expr* tuple(Conditional conditional = Conditional::kAllowed, std::string_view stop = "",
                    bool parenthesised = false);
  // `| filter(...) | ...` after `operand`; null operand: the head of a filter block or set block.
  const Expr* filters(const Expr* operand, bool at_name);
  Target target(std::string_view stop, bool with_namespace);

  // Names `caller`, `kwargs`, `varargs` seen inside the macros being parsed, innermost last.
  struct MacroUse {
    bool caller = false, kwargs = false, varargs = false;
  };
  std::vector<MacroUse>& macro_uses() { return macro_uses_; }

  void enter() {
    if (++depth_ > kNestingLimit) too_deep();
  }
  void leave() { --depth_; }

 private:
  static constexpr int kNestingLimit = kMaxNesting;

  template <typename Node, typename... Args>
  Node* make(int line, std::initializer_list<const Expr*> children, Args&&... args) {
    auto node = std::make_unique<Node>(std::forward<Args>(args)...);
    node->line = line;
    for (const Expr* child : children) raise(*node, child);
    Node* raw = node.get();
    tree_.expressions.push_back(std::move(node));
    return raw;
  }
  void raise(Expr& node, const Expr* child) {
    if (child == nullptr) return;
    node.height = std::max(node.height, child->height + 1);
    if (node.height > kNestingLimit) too_deep();
  }
  void raise(Expr& node, const Arguments& arguments);
  [[noreturn]] void too_deep() const;

  const Expr* conditional();
  const Expr* or_expression();
  const Expr* and_expression();
  const Expr* not_expression();
  const Expr* comparison();
  const Expr* sum();
  const Expr* concatenation();
  const Expr* product();
  const Expr* power();
  const Expr* unary(bool with_filters);
  const Expr* primary();
  const Expr* name_or_constant();
  const Expr* number();
  const Expr* list();
  const Expr* dict();
  const Expr* postfix(const Expr* node);
  const Expr* filters_and_tests(const Expr* node);
  const Expr* test(const Expr* node);
  const Expr* attribute_or_item(const Expr* node);
  const Expr* subscript();
  const Expr* call(const Expr* callee);
  Arguments arguments();
  std::string dotted_name();
  Target single_target(bool with_namespace);

  TokenStream& stream_;
  Tree& tree_;
  std::vector<MacroUse> macro_uses_;
  int depth_ = 0;
};

// One level of the parser's recursion.
class NestingGuard {
 public:
  explicit NestingGuard(ExpressionParser& parser) : parser_(parser) { parser_.enter(); }
  ~NestingGuard() { parser_.leave(); }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  ExpressionParser& parser_;
};

}  // namespace quire::jinja

#include "tokenizer/templates/parser.h"

#include <array>
#include <initializer_list>

#include "tokenizer/templates/expression_parser.h"

namespace quire::jinja {

SymbolId Tree::intern(std::string_view name) {
  if (const auto found = symbol_ids.find(name); found != symbol_ids.end()) return found->second;
  const SymbolId id = static_cast<SymbolId>(symbols.size());
  symbols.emplace_back(name);
  symbol_ids.emplace(symbols.back(), id);
  return id;
}

namespace {

class StatementParser {
 public:
  StatementParser(TokenStream& stream, Tree& tree)
      : stream_(stream), tree_(tree), expressions_(stream, tree) {}

  void run() {
    tree_.body = body({});
    if (!stream_.at(TokenKind::kEnd)) stream_.syntax_error(fmt::format("unexpected {}", stream_.describe()));
  }

 private:
  template <typename Node, typename... Args>
  Node* make(int line, Args&&... args) {
    auto node = std::make_unique<Node>(std::forward<Args>(args)...);
    node->line = line;
    Node* raw = node.get();
    tree_.statements.push_back(std::move(node));
    return raw;
  }

  // Statements up to one of the `ends` tags, whose name is then current (its "{%" is consumed).
  Body body(std::initializer_list<std::string_view> ends) {
    NestingGuard guard(expressions_);
    Body statements;
    for (;;) {
      const int line = stream_.line();
      switch (stream_.current().kind) {
        case TokenKind::kData:
          statements.push_back(make<DataStmt>(line, stream_.next().text));
          break;
        case TokenKind::kVariableBegin: {
          stream_.next();
          const Expr* value = expressions_.tuple();
          stream_.expect(TokenKind::kVariableEnd, "end of print statement");
          statements.push_back(make<PrintStmt>(line, value));
          break;
        }
        case TokenKind::kBlockBegin:
          stream_.next();
          for (std::string_view end : ends) {
            if (stream_.at_name(end)) return statements;
          }
          statement(statements);
          stream_.expect(TokenKind::kBlockEnd, "end of statement block");
          break;
        default:
          if (ends.size() == 0) return statements;
          stream_.syntax_error(
              fmt::format("unexpected {}; looking for '{}'", stream_.describe(), *ends.begin()));
      }
    }
  }

  // The body of a block statement: optional colon, end of the opening tag, statements.
  Body block(std::initializer_list<std::string_view> ends) {
    stream_.skip_operator(":");
    stream_.expect(TokenKind::kBlockEnd, "end of statement block");
    return body(ends);
  }

  void statement(Body& out) {
    const int line = stream_.line();
    if (!stream_.at(TokenKind::kName)) stream_.syntax_error("tag name expected");
    const std::string tag = stream_.next().text;
    if (tag == "if") return out.push_back(if_statement(line));
    if (tag == "for") return out.push_back(for_statement(line));
    if (tag == "set") return out.push_back(set_statement(line));
    if (tag == "macro") return out.push_back(macro_statement(line));
    if (tag == "call") return out.push_back(call_statement(line));
    if (tag == "filter") return out.push_back(filter_statement(line));
    if (tag == "with") return out.push_back(with_statement(line));
    if (tag == "generation") {
      // Marks what the assistant wrote, for training; rendering only sees the scope it opens.
      auto* node = make<ScopeStmt>(line);
      node->body = block({"endgeneration"});
      stream_.next();
      return out.push_back(node);
    }
    if (tag == "break" || tag == "continue") {
      if (loops_ == 0) stream_.syntax_error(fmt::format("'{}' outside of a loop", tag));
      return out.push_back(make<JumpStmt>(line, tag == "break" ? StmtKind::kBreak : StmtKind::kContinue));
    }
    if (tag == "print") {
      bool first = true;
      while (!stream_.at(TokenKind::kBlockEnd)) {
        if (!first) stream_.expect_operator(",");
        first = false;
        out.push_back(make<PrintStmt>(line, expressions_.expression()));
      }
      return;
    }
    static constexpr std::string_view kOtherTags[] = {"include", "import", "from",
                                                      "extends", "block",  "autoescape"};
    for (std::string_view other : kOtherTags) {
      if (tag == other) {
        throw Failure{ErrorCode::kUnsupported,
                      fmt::format("the '{}' tag is not supported in chat templates", tag), line};
      }
    }
    throw Failure{ErrorCode::kCorrupt, fmt::format("unknown tag '{}'", tag), line};
  }

  const Stmt* if_statement(int line) {
    auto* node = make<IfNode>(line);
    for (;;) {
      const Expr* condition = expressions_.tuple(Conditional::kForbidden);
      Body branch = block({"elif", "else", "endif"});
      node->branches.emplace_back(condition, std::move(branch));
      const std::string tag = stream_.next().text;
      if (tag == "elif") continue;
      if (tag == "else") {
        node->otherwise = block({"endif"});
        stream_.next();
      }
      return node;
    }
  }

  const Stmt* for_statement(int line) {
    auto* node = make<ForNode>(line);
    node->target = expressions_.target("in", false);
    stream_.expect_name("in");
    node->iterable = expressions_.tuple(Conditional::kForbidden, "recursive");
    if (stream_.skip_name("if")) node->test = expressions_.expression();
    node->recursive = stream_.skip_name("recursive");
    ++loops_;
    node->body = block({"endfor", "else"});
    --loops_;
    if (stream_.next().text == "else") {
      node->otherwise = block({"endfor"});
      stream_.next();
    }
    return node;
  }

  const Stmt* set_statement(int line) {
    Target target = expressions_.target("", true);
    if (stream_.skip_operator("=")) {
      auto* node = make<SetStmt>(line);
      node->target = std::move(target);
      node->value = expressions_.tuple();
      return node;
    }
    auto* node = make<SetBlockStmt>(line);
    node->target = std::move(target);
    node->filter = expressions_.filters(nullptr, false);
    node->body = block({"endset"});
    stream_.next();
    return node;
  }

  void signature(MacroNode& node) {
    stream_.expect_operator("(");
    while (!stream_.at_operator(")")) {
      if (!node.parameters.empty()) stream_.expect_operator(",");
      std::string name = stream_.expect_any_name();
      const SymbolId symbol = tree_.intern(name);
      for (const auto& [other, id] : node.parameters) {
        if (id == symbol) stream_.syntax_error(fmt::format("duplicate parameter '{}'", name));
      }
      node.parameters.emplace_back(std::move(name), symbol);
      if (stream_.skip_operator("=")) {
        node.defaults.push_back(expressions_.expression());
      } else if (!node.defaults.empty()) {
        stream_.syntax_error("non-default argument follows default argument");
      }
    }
    stream_.expect_operator(")");
  }

  void macro_body(MacroNode& node, std::string_view end) {
    // A jump out of a macro is not a jump of the loop around it.
    const int outer_loops = std::exchange(loops_, 0);
    expressions_.macro_uses().emplace_back();
    node.body = block({end});
    stream_.next();
    const auto use = expressions_.macro_uses().back();
    expressions_.macro_uses().pop_back();
    loops_ = outer_loops;
    node.uses_caller = use.caller;
    node.uses_kwargs = use.kwargs;
    node.uses_varargs = use.varargs;
  }

  const Stmt* macro_statement(int line) {
    auto* node = make<MacroNode>(line);
    node->name = stream_.expect_any_name();
    node->symbol = tree_.intern(node->name);
    signature(*node);
    macro_body(*node, "endmacro");
    return node;
  }

  const Stmt* call_statement(int line) {
    auto* node = make<CallBlockStmt>(line);
    node->caller = make<MacroNode>(line);
    node->caller->name = "caller";
    if (stream_.at_operator("(")) signature(*node->caller);
    const Expr* call = expressions_.expression();
    if (call->kind != ExprKind::kCall) stream_.syntax_error("expected a call after 'call'");
    node->call = static_cast<const CallExpr*>(call);
    macro_body(*node->caller, "endcall");
    return node;
  }

  const Stmt* filter_statement(int line) {
    auto* node = make<FilterBlockStmt>(line);
    node->filter = expressions_.filters(nullptr, true);
    node->body = block({"endfilter"});
    stream_.next();
    return node;
  }

  const Stmt* with_statement(int line) {
    auto* node = make<WithStmt>(line);
    while (!stream_.at(TokenKind::kBlockEnd)) {
      if (!node->bindings.empty()) stream_.expect_operator(",");
      Target target = expressions_.target("", false);
      stream_.expect_operator("=");
      node->bindings.emplace_back(std::move(target), expressions_.expression());
    }
    node->body = block({"endwith"});
    stream_.next();
    return node;
  }

  TokenStream& stream_;
  Tree& tree_;
  ExpressionParser expressions_;
  int loops_ = 0;
};

}  // namespace

std::unique_ptr<const Tree> parse_template(std::string_view source) {
  auto tree = std::make_unique<Tree>();
  for (std::string_view name : {"loop", "caller", "kwargs", "varargs"}) tree->intern(name);
  TokenStream stream(tokenize(source));
  StatementParser(stream, *tree).run();
  return tree;
}

}  // namespace quire::jinja

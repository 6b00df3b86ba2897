// The syntax tree of a template: expressions and statements, as the parser builds them.
//
// Nodes are owned by one Tree (flat, so that destruction never recurses) and refer to each other by plain
// pointers; a finished Tree is immutable and shared by all threads that render it. Names are interned:
// SymbolId indexes Tree::symbols. Kinds and precedence follow the Jinja 3.1 grammar.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tokenizer/templates/text.h"

namespace quire::jinja {

using SymbolId = uint32_t;

// Names that the engine itself looks up; the parser interns them first, in this order.
inline constexpr SymbolId kLoopSymbol = 0;
inline constexpr SymbolId kCallerSymbol = 1;
inline constexpr SymbolId kKwargsSymbol = 2;
inline constexpr SymbolId kVarargsSymbol = 3;

// Levels of nesting (brackets, blocks, operator chains) that a template may have.
inline constexpr int kMaxNesting = 200;

enum class ExprKind : uint8_t {
  kString,
  kInteger,
  kBigInteger,
  kFloat,
  kBool,
  kNone,
  kName,
  kTuple,
  kList,
  kDict,
  kBinary,
  kConcat,
  kNegate,
  kPlus,
  kNot,
  kAnd,
  kOr,
  kCompare,
  kConditional,
  kAttribute,
  kItem,
  kSlice,
  kCall,
  kFilter,
  kTest,
};

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
enum class CompareOp : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };

struct Expr {
  ExprKind kind;
  int line = 0;
  int height = 1;  // levels below and including this node
  virtual ~Expr() = default;

 protected:
  explicit Expr(ExprKind k) : kind(k) {}
};

struct Argument {
  std::string name;  // empty: positional
  const Expr* value = nullptr;
};

struct Arguments {
  std::vector<Argument> list;
  const Expr* star = nullptr;         // *expr
  const Expr* double_star = nullptr;  // **expr
};

struct StringExpr : Expr {
  explicit StringExpr(std::string bytes)
      : Expr(ExprKind::kString), text(std::move(bytes), Origin::kTemplate, {}) {}
  Text text;
};
struct IntegerExpr : Expr {
  explicit IntegerExpr(int64_t v) : Expr(ExprKind::kInteger), value(v) {}
  int64_t value;
};
struct BigIntegerExpr : Expr {
  explicit BigIntegerExpr(std::string d) : Expr(ExprKind::kBigInteger), digits(std::move(d)) {}
  std::string digits;
};
struct FloatExpr : Expr {
  explicit FloatExpr(double v) : Expr(ExprKind::kFloat), value(v) {}
  double value;
};
struct BoolExpr : Expr {
  explicit BoolExpr(bool v) : Expr(ExprKind::kBool), value(v) {}
  bool value;
};
struct NoneExpr : Expr {
  NoneExpr() : Expr(ExprKind::kNone) {}
};
struct NameExpr : Expr {
  explicit NameExpr(SymbolId s) : Expr(ExprKind::kName), symbol(s) {}
  SymbolId symbol;
};
// kTuple, kList, kConcat
struct SequenceExpr : Expr {
  SequenceExpr(ExprKind k, std::vector<const Expr*> i) : Expr(k), items(std::move(i)) {}
  std::vector<const Expr*> items;
};
struct DictExpr : Expr {
  DictExpr() : Expr(ExprKind::kDict) {}
  std::vector<std::pair<const Expr*, const Expr*>> items;
};
struct BinaryExpr : Expr {
  BinaryExpr(BinaryOp o, const Expr* l, const Expr* r) : Expr(ExprKind::kBinary), op(o), left(l), right(r) {}
  BinaryOp op;
  const Expr* left;
  const Expr* right;
};
// kNegate, kPlus, kNot
struct UnaryExpr : Expr {
  UnaryExpr(ExprKind k, const Expr* o) : Expr(k), operand(o) {}
  const Expr* operand;
};
// kAnd, kOr
struct LogicExpr : Expr {
  LogicExpr(ExprKind k, const Expr* l, const Expr* r) : Expr(k), left(l), right(r) {}
  const Expr* left;
  const Expr* right;
};
struct CompareExpr : Expr {
  explicit CompareExpr(const Expr* f) : Expr(ExprKind::kCompare), first(f) {}
  const Expr* first;
  std::vector<std::pair<CompareOp, const Expr*>> rest;
};
struct ConditionalExpr : Expr {
  ConditionalExpr() : Expr(ExprKind::kConditional) {}
  const Expr* condition = nullptr;
  const Expr* then = nullptr;
  const Expr* otherwise = nullptr;  // null: undefined
};
struct AttributeExpr : Expr {
  AttributeExpr(const Expr* o, std::string n)
      : Expr(ExprKind::kAttribute), object(o), name(std::move(n), Origin::kTemplate, {}) {}
  const Expr* object;
  Text name;
};
struct ItemExpr : Expr {
  ItemExpr(const Expr* o, const Expr* i) : Expr(ExprKind::kItem), object(o), index(i) {}
  const Expr* object;
  const Expr* index;  // may be a SliceExpr
};
struct SliceExpr : Expr {
  SliceExpr() : Expr(ExprKind::kSlice) {}
  const Expr* start = nullptr;
  const Expr* stop = nullptr;
  const Expr* step = nullptr;
};
struct CallExpr : Expr {
  CallExpr(const Expr* c, Arguments a) : Expr(ExprKind::kCall), callee(c), arguments(std::move(a)) {}
  const Expr* callee;
  Arguments arguments;
};
// kFilter, kTest. A filter at the head of a filter block has no operand.
struct ApplyExpr : Expr {
  ApplyExpr(ExprKind k, const Expr* o, std::string n, Arguments a)
      : Expr(k), operand(o), name(std::move(n)), arguments(std::move(a)) {}
  const Expr* operand;
  std::string name;
  Arguments arguments;
};

enum class StmtKind : uint8_t {
  kData,
  kPrint,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kScope,
  kBreak,
  kContinue,
};

struct Stmt {
  StmtKind kind;
  int line = 0;
  virtual ~Stmt() = default;

 protected:
  explicit Stmt(StmtKind k) : kind(k) {}
};
using Body = std::vector<const Stmt*>;

// What may stand left of `=`: a name, an attribute of a namespace, or a tuple of these.
struct Target {
  int line = 0;
  SymbolId symbol = 0;
  std::string attribute;         // not empty: symbol.attribute
  std::vector<Target> elements;  // with is_tuple
  bool is_tuple = false;
};

struct DataStmt : Stmt {
  explicit DataStmt(std::string bytes)
      : Stmt(StmtKind::kData), text(std::move(bytes), Origin::kTemplate, {}) {}
  Text text;
};
struct PrintStmt : Stmt {
  explicit PrintStmt(const Expr* v) : Stmt(StmtKind::kPrint), value(v) {}
  const Expr* value;
};
struct IfNode : Stmt {
  IfNode() : Stmt(StmtKind::kIf) {}
  std::vector<std::pair<const Expr*, Body>> branches;
  Body otherwise;
};
struct ForNode : Stmt {
  ForNode() : Stmt(StmtKind::kFor) {}
  Target target;
  const Expr* iterable = nullptr;
  const Expr* test = nullptr;
  bool recursive = false;
  Body body;
  Body otherwise;
};
struct SetStmt : Stmt {
  SetStmt() : Stmt(StmtKind::kSet) {}
  Target target;
  const Expr* value = nullptr;
};
struct SetBlockStmt : Stmt {
  SetBlockStmt() : Stmt(StmtKind::kSetBlock) {}
  Target target;
  const Expr* filter = nullptr;  // chain of filters whose head has no operand, or null
  Body body;
};
struct MacroNode : Stmt {
  MacroNode() : Stmt(StmtKind::kMacro) {}
  std::string name;  // empty: the body of a call block
  SymbolId symbol = 0;
  std::vector<std::pair<std::string, SymbolId>> parameters;
  std::vector<const Expr*> defaults;  // of the last parameters
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
  Body body;
};
struct CallBlockStmt : Stmt {
  CallBlockStmt() : Stmt(StmtKind::kCallBlock) {}
  const CallExpr* call = nullptr;
  MacroNode* caller = nullptr;
};
struct FilterBlockStmt : Stmt {
  FilterBlockStmt() : Stmt(StmtKind::kFilterBlock) {}
  const Expr* filter = nullptr;
  Body body;
};
struct WithStmt : Stmt {
  WithStmt() : Stmt(StmtKind::kWith) {}
  std::vector<std::pair<Target, const Expr*>> bindings;
  Body body;
};
struct ScopeStmt : Stmt {
  ScopeStmt() : Stmt(StmtKind::kScope) {}
  Body body;
};
struct JumpStmt : Stmt {
  explicit JumpStmt(StmtKind k) : Stmt(k) {}
};

struct Tree {
  std::deque<std::unique_ptr<Expr>> expressions;
  std::deque<std::unique_ptr<Stmt>> statements;
  std::deque<std::string> symbols;  // stable addresses: symbol_ids views them
  std::unordered_map<std::string_view, SymbolId> symbol_ids;
  Body body;

  SymbolId intern(std::string_view name);
};

}  // namespace quire::jinja

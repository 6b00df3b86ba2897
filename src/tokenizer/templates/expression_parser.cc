#include "tokenizer/templates/expression_parser.h"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace quire::jinja {
namespace {

std::optional<CompareOp> compare_operator(const Token& token) {
  if (token.kind != TokenKind::kOperator) return std::nullopt;
  if (token.text == "==") return CompareOp::kEq;
  if (token.text == "!=") return CompareOp::kNe;
  if (token.text == "<") return CompareOp::kLt;
  if (token.text == "<=") return CompareOp::kLe;
  if (token.text == ">") return CompareOp::kGt;
  if (token.text == ">=") return CompareOp::kGe;
  return std::nullopt;
}

std::optional<BinaryOp> product_operator(const Token& token) {
  if (token.kind != TokenKind::kOperator) return std::nullopt;
  if (token.text == "*") return BinaryOp::kMul;
  if (token.text == "/") return BinaryOp::kDiv;
  if (token.text == "//") return BinaryOp::kFloorDiv;
  if (token.text == "%") return BinaryOp::kMod;
  return std::nullopt;
}

}  // namespace

void ExpressionParser::too_deep() const {
  throw Failure{ErrorCode::kResourceExhausted,
                fmt::format("the template nests deeper than {} levels", kNestingLimit), stream_.line()};
}

void ExpressionParser::raise(Expr& node, const Arguments& arguments) {
  for (const Argument& argument : arguments.list) raise(node, argument.value);
  raise(node, arguments.star);
  raise(node, arguments.double_star);
}

const Expr* ExpressionParser::expression(Conditional allowed) {
  NestingGuard guard(*this);
  return allowed == Conditional::kAllowed ? conditional() : or_expression();
}

const Expr* ExpressionParser::conditional() {
  const Expr* node = or_expression();
  while (stream_.at_name("if")) {
    const int line = stream_.next().line;
    const Expr* condition = or_expression();
    const Expr* otherwise = nullptr;
    if (stream_.skip_name("else")) {
      NestingGuard guard(*this);
      otherwise = conditional();
    }
    auto* made = make<ConditionalExpr>(line, {condition, node, otherwise});
    made->condition = condition;
    made->then = node;
    made->otherwise = otherwise;
    node = made;
  }
  return node;
}

const Expr* ExpressionParser::or_expression() {
  const Expr* left = and_expression();
  while (stream_.at_name("or")) {
    const int line = stream_.next().line;
    const Expr* right = and_expression();
    left = make<LogicExpr>(line, {left, right}, ExprKind::kOr, left, right);
  }
  return left;
}

const Expr* ExpressionParser::and_expression() {
  const Expr* left = not_expression();
  while (stream_.at_name("and")) {
    const int line = stream_.next().line;
    const Expr* right = not_expression();
    left = make<LogicExpr>(line, {left, right}, ExprKind::kAnd, left, right);
  }
  return left;
}

const Expr* ExpressionParser::not_expression() {
  if (!stream_.at_name("not")) return comparison();
  NestingGuard guard(*this);
  const int line = stream_.next().line;
  const Expr* operand = not_expression();
  return make<UnaryExpr>(line, {operand}, ExprKind::kNot, operand);
}

const Expr* ExpressionParser::comparison() {
  const Expr* first = sum();
  CompareExpr* node = nullptr;
  for (;;) {
    CompareOp op;
    const int line = stream_.line();
    if (const auto found = compare_operator(stream_.current())) {
      stream_.next();
      op = *found;
    } else if (stream_.skip_name("in")) {
      op = CompareOp::kIn;
    } else if (stream_.at_name("not") && stream_.ahead().kind == TokenKind::kName &&
               stream_.ahead().text == "in") {
      stream_.next();
      stream_.next();
      op = CompareOp::kNotIn;
    } else {
      break;
    }
    const Expr* right = sum();
    if (node == nullptr) node = make<CompareExpr>(line, {first}, first);
    raise(*node, right);
    node->rest.emplace_back(op, right);
  }
  return node == nullptr ? first : node;
}

const Expr* ExpressionParser::sum() {
  const Expr* left = concatenation();
  while (stream_.at_operator("+") || stream_.at_operator("-")) {
    const Token token = stream_.next();
    const Expr* right = concatenation();
    const BinaryOp op = token.text == "+" ? BinaryOp::kAdd : BinaryOp::kSub;
    left = make<BinaryExpr>(token.line, {left, right}, op, left, right);
  }
  return left;
}

const Expr* ExpressionParser::concatenation() {
  const int line = stream_.line();
  std::vector<const Expr*> parts{product()};
  while (stream_.skip_operator("~")) parts.push_back(product());
  if (parts.size() == 1) return parts[0];
  auto* node = make<SequenceExpr>(line, {}, ExprKind::kConcat, std::move(parts));
  for (const Expr* part : node->items) raise(*node, part);
  return node;
}

const Expr* ExpressionParser::product() {
  const Expr* left = power();
  while (const auto op = product_operator(stream_.current())) {
    const int line = stream_.next().line;
    const Expr* right = power();
    left = make<BinaryExpr>(line, {left, right}, *op, left, right);
  }
  return left;
}

const Expr* ExpressionParser::power() {
  const Expr* left = unary(true);
  while (stream_.at_operator("**")) {
    const int line = stream_.next().line;
    const Expr* right = unary(true);
    left = make<BinaryExpr>(line, {left, right}, BinaryOp::kPow, left, right);
  }
  return left;
}

const Expr* ExpressionParser::unary(bool with_filters) {
  const Expr* node = nullptr;
  if (stream_.at_operator("-") || stream_.at_operator("+")) {
    NestingGuard guard(*this);
    const Token token = stream_.next();
    const Expr* operand = unary(false);
    node = make<UnaryExpr>(token.line, {operand}, token.text == "-" ? ExprKind::kNegate : ExprKind::kPlus,
                           operand);
  } else {
    node = primary();
  }
  node = postfix(node);
  return with_filters ? filters_and_tests(node) : node;
}

const Expr* ExpressionParser::primary() {
  const int line = stream_.line();
  switch (stream_.current().kind) {
    case TokenKind::kName:
      return name_or_constant();
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return number();
    case TokenKind::kString: {
      std::string text = stream_.next().text;
      while (stream_.at(TokenKind::kString)) text += stream_.next().text;  // adjacent literals are one
      return make<StringExpr>(line, {}, std::move(text));
    }
    default:
      break;
  }
  if (stream_.skip_operator("(")) {
    const Expr* node = tuple(Conditional::kAllowed, "", true);
    stream_.expect_operator(")");
    return node;
  }
  if (stream_.at_operator("[")) return list();
  if (stream_.at_operator("{")) return dict();
  stream_.syntax_error(fmt::format("unexpected {}", stream_.describe()));
}

const Expr* ExpressionParser::name_or_constant() {
  const Token token = stream_.next();
  if (token.text == "true" || token.text == "True") return make<BoolExpr>(token.line, {}, true);
  if (token.text == "false" || token.text == "False") return make<BoolExpr>(token.line, {}, false);
  if (token.text == "none" || token.text == "None") return make<NoneExpr>(token.line, {});
  for (MacroUse& use : macro_uses_) {
    if (token.text == "caller") use.caller = true;
    if (token.text == "kwargs") use.kwargs = true;
    if (token.text == "varargs") use.varargs = true;
  }
  return make<NameExpr>(token.line, {}, tree_.intern(token.text));
}

const Expr* ExpressionParser::number() {
  const Token token = stream_.next();
  const char* begin = token.text.data();
  const char* end = begin + token.text.size();
  if (token.kind == TokenKind::kFloat) {
    double value = 0;
    const auto parsed = std::from_chars(begin, end, value);
    if (parsed.ec == std::errc::result_out_of_range) value = std::strtod(token.text.c_str(), nullptr);
    return make<FloatExpr>(token.line, {}, value);
  }
  int base = 10;
  if (token.text.size() > 2 && token.text[0] == '0') {
    const char letter = static_cast<char>(token.text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (base != 10) begin += 2;
  }
  int64_t value = 0;
  if (std::from_chars(begin, end, value, base).ec == std::errc())
    return make<IntegerExpr>(token.line, {}, value);
  if (base != 10) stream_.syntax_error("integer literal too large");
  return make<BigIntegerExpr>(token.line, {}, token.text);
}

const Expr* ExpressionParser::tuple(Conditional allowed, std::string_view stop, bool parenthesised) {
  const int line = stream_.line();
  std::vector<const Expr*> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) stream_.expect_operator(",");
    if (stream_.at(TokenKind::kVariableEnd) || stream_.at(TokenKind::kBlockEnd) || stream_.at_operator(")") ||
        (!stop.empty() && stream_.at_name(stop))) {
      break;
    }
    items.push_back(expression(allowed));
    if (!stream_.at_operator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!items.empty()) return items[0];
    if (!parenthesised)
      stream_.syntax_error(fmt::format("expected an expression, got {}", stream_.describe()));
  }
  auto* node = make<SequenceExpr>(line, {}, ExprKind::kTuple, std::move(items));
  for (const Expr* item : node->items) raise(*node, item);
  return node;
}

const Expr* ExpressionParser::list() {
  const int line = stream_.line();
  stream_.expect_operator("[");
  std::vector<const Expr*> items;
  while (!stream_.at_operator("]")) {
    if (!items.empty()) stream_.expect_operator(",");
    if (stream_.at_operator("]")) break;
    items.push_back(expression());
  }
  stream_.expect_operator("]");
  auto* node = make<SequenceExpr>(line, {}, ExprKind::kList, std::move(items));
  for (const Expr* item : node->items) raise(*node, item);
  return node;
}

const Expr* ExpressionParser::dict() {
  auto* node = make<DictExpr>(stream_.line(), {});
  stream_.expect_operator("{");
  while (!stream_.at_operator("}")) {
    if (!node->items.empty()) stream_.expect_operator(",");
    if (stream_.at_operator("}")) break;
    const Expr* key = expression();
    stream_.expect_operator(":");
    const Expr* value = expression();
    raise(*node, key);
    raise(*node, value);
    node->items.emplace_back(key, value);
  }
  stream_.expect_operator("}");
  return node;
}

const Expr* ExpressionParser::postfix(const Expr* node) {
  for (;;) {
    if (stream_.at_operator(".") || stream_.at_operator("[")) {
      node = attribute_or_item(node);
    } else if (stream_.at_operator("(")) {
      node = call(node);
    } else {
      return node;
    }
  }
}

const Expr* ExpressionParser::filters_and_tests(const Expr* node) {
  for (;;) {
    if (stream_.at_operator("|")) {
      node = filters(node, false);
    } else if (stream_.at_name("is")) {
      node = test(node);
    } else if (stream_.at_operator("(")) {
      node = call(node);
    } else {
      return node;
    }
  }
}

std::string ExpressionParser::dotted_name() {
  std::string name = stream_.expect_any_name();
  while (stream_.skip_operator(".")) name += "." + stream_.expect_any_name();
  return name;
}

const Expr* ExpressionParser::filters(const Expr* operand, bool at_name) {
  while (at_name || stream_.at_operator("|")) {
    if (!at_name) stream_.next();
    at_name = false;
    const int line = stream_.line();
    std::string name = dotted_name();
    Arguments given;
    if (stream_.at_operator("(")) given = arguments();
    auto* node =
        make<ApplyExpr>(line, {operand}, ExprKind::kFilter, operand, std::move(name), std::move(given));
    raise(*node, node->arguments);
    operand = node;
  }
  return operand;
}

const Expr* ExpressionParser::test(const Expr* operand) {
  const int line = stream_.next().line;  // `is`
  const bool negated = stream_.skip_name("not");
  std::string name = dotted_name();
  Arguments given;
  const Token& token = stream_.current();
  const bool starts_argument = token.kind == TokenKind::kName || token.kind == TokenKind::kString ||
                               token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat ||
                               stream_.at_operator("[") || stream_.at_operator("{");
  if (stream_.at_operator("(")) {
    given = arguments();
  } else if (starts_argument && !stream_.at_name("else") && !stream_.at_name("or") &&
             !stream_.at_name("and")) {
    if (stream_.at_name("is")) stream_.syntax_error("tests with `is` cannot be chained");
    given.list.push_back({"", postfix(primary())});
  }
  auto* node = make<ApplyExpr>(line, {operand}, ExprKind::kTest, operand, std::move(name), std::move(given));
  raise(*node, node->arguments);
  if (!negated) return node;
  return make<UnaryExpr>(line, {node}, ExprKind::kNot, node);
}

const Expr* ExpressionParser::attribute_or_item(const Expr* object) {
  const Token token = stream_.next();
  if (token.text == ".") {
    const int line = stream_.line();
    if (stream_.at(TokenKind::kName)) {
      return make<AttributeExpr>(line, {object}, object, stream_.next().text);
    }
    if (!stream_.at(TokenKind::kInteger)) {
      stream_.syntax_error(fmt::format("expected a name or number after '.', got {}", stream_.describe()));
    }
    const Expr* index = number();
    return make<ItemExpr>(line, {object, index}, object, index);
  }
  std::vector<const Expr*> parts;
  while (!stream_.at_operator("]")) {
    if (!parts.empty()) stream_.expect_operator(",");
    parts.push_back(subscript());
  }
  stream_.expect_operator("]");
  const Expr* index = nullptr;
  if (parts.size() == 1) {
    index = parts[0];
  } else {
    for (const Expr* part : parts) {
      if (part->kind == ExprKind::kSlice) stream_.syntax_error("a slice must be the only subscript");
    }
    auto* node = make<SequenceExpr>(token.line, {}, ExprKind::kTuple, std::move(parts));
    for (const Expr* part : node->items) raise(*node, part);
    index = node;
  }
  return make<ItemExpr>(token.line, {object, index}, object, index);
}

const Expr* ExpressionParser::subscript() {
  const int line = stream_.line();
  const Expr* start = nullptr;
  if (!stream_.at_operator(":")) {
    start = expression();
    if (!stream_.at_operator(":")) return start;
  }
  stream_.next();
  const auto at_end = [&] { return stream_.at_operator("]") || stream_.at_operator(","); };
  const Expr* stop = stream_.at_operator(":") || at_end() ? nullptr : expression();
  const Expr* step = nullptr;
  if (stream_.skip_operator(":") && !at_end()) step = expression();
  auto* node = make<SliceExpr>(line, {start, stop, step});
  node->start = start;
  node->stop = stop;
  node->step = step;
  return node;
}

const Expr* ExpressionParser::call(const Expr* callee) {
  const int line = stream_.line();
  Arguments given = arguments();
  auto* node = make<CallExpr>(line, {callee}, callee, std::move(given));
  raise(*node, node->arguments);
  return node;
}

Arguments ExpressionParser::arguments() {
  NestingGuard guard(*this);
  Arguments given;
  bool named = false;
  const auto ensure = [&](bool fine) {
    if (!fine) stream_.syntax_error("invalid syntax for function call expression");
  };
  stream_.expect_operator("(");
  bool require_comma = false;
  while (!stream_.at_operator(")")) {
    if (require_comma) {
      stream_.expect_operator(",");
      if (stream_.at_operator(")")) break;
    }
    if (stream_.skip_operator("*")) {
      ensure(given.star == nullptr && given.double_star == nullptr);
      given.star = expression();
    } else if (stream_.skip_operator("**")) {
      ensure(given.double_star == nullptr);
      given.double_star = expression();
    } else if (stream_.at(TokenKind::kName) && stream_.ahead().kind == TokenKind::kOperator &&
               stream_.ahead().text == "=") {
      ensure(given.double_star == nullptr);
      std::string name = stream_.next().text;
      stream_.next();
      for (const Argument& other : given.list) {
        if (other.name == name) stream_.syntax_error(fmt::format("keyword argument repeated: {}", name));
      }
      given.list.push_back({std::move(name), expression()});
      named = true;
    } else {
      ensure(given.star == nullptr && given.double_star == nullptr && !named);
      given.list.push_back({"", expression()});
    }
    require_comma = true;
  }
  stream_.expect_operator(")");
  return given;
}

Target ExpressionParser::single_target(bool with_namespace) {
  NestingGuard guard(*this);
  Target target;
  target.line = stream_.line();
  if (stream_.skip_operator("(")) {
    Target inner = this->target("", with_namespace);
    stream_.expect_operator(")");
    return inner;
  }
  if (!stream_.at(TokenKind::kName))
    stream_.syntax_error(fmt::format("can't assign to {}", stream_.describe()));
  static constexpr std::string_view kConstants[] = {"true", "false", "True", "False", "none", "None"};
  for (std::string_view constant : kConstants) {
    if (stream_.at_name(constant)) stream_.syntax_error(fmt::format("can't assign to '{}'", constant));
  }
  target.symbol = tree_.intern(stream_.next().text);
  if (with_namespace && stream_.skip_operator(".")) target.attribute = stream_.expect_any_name();
  return target;
}

Target ExpressionParser::target(std::string_view stop, bool with_namespace) {
  Target first = single_target(with_namespace);
  if (!stream_.at_operator(",")) return first;
  Target whole;
  whole.line = first.line;
  whole.is_tuple = true;
  whole.elements.push_back(std::move(first));
  while (stream_.skip_operator(",")) {
    if (stream_.at_operator("=") || stream_.at_operator(")") || stream_.at(TokenKind::kBlockEnd) ||
        (!stop.empty() && stream_.at_name(stop))) {
      break;
    }
    whole.elements.push_back(single_target(with_namespace));
  }
  return whole;
}

}  // namespace quire::jinja

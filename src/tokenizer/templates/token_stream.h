// TokenStream: the parser's cursor over the tokens of one template. Owns them; used by one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/templates/failure.h"
#include "tokenizer/templates/lexer.h"

namespace quire::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token next() {
    const size_t here = at_;
    if (at_ + 1 < tokens_.size()) ++at_;
    return tokens_[here];
  }
  int line() const { return current().line; }

  bool at(TokenKind kind) const { return current().kind == kind; }
  bool at_operator(std::string_view text) const { return at(TokenKind::kOperator) && current().text == text; }
  bool at_name(std::string_view text) const { return at(TokenKind::kName) && current().text == text; }

  bool skip_operator(std::string_view text) {
    if (!at_operator(text)) return false;
    next();
    return true;
  }
  bool skip_name(std::string_view text) {
    if (!at_name(text)) return false;
    next();
    return true;
  }

  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) syntax_error(fmt::format("expected '{}', got {}", text, describe()));
  }
  void expect_name(std::string_view text) {
    if (!skip_name(text)) syntax_error(fmt::format("expected '{}', got {}", text, describe()));
  }
  std::string expect_any_name() {
    if (!at(TokenKind::kName)) syntax_error(fmt::format("expected a name, got {}", describe()));
    return next().text;
  }
  void expect(TokenKind kind, std::string_view what) {
    if (!at(kind)) syntax_error(fmt::format("expected {}, got {}", what, describe()));
    next();
  }

  // The current token in words, for messages.
  std::string describe() const {
    switch (current().kind) {
      case TokenKind::kData:
        return "template text";
      case TokenKind::kVariableBegin:
        return "'{{'";
      case TokenKind::kVariableEnd:
        return "end of print statement";
      case TokenKind::kBlockBegin:
        return "'{%'";
      case TokenKind::kBlockEnd:
        return "end of statement block";
      case TokenKind::kEnd:
        return "end of template";
      case TokenKind::kString:
        return "a string";
      default:
        return fmt::format("'{}'", current().text);
    }
  }

  [[noreturn]] void syntax_error(std::string message) const {
    throw Failure{ErrorCode::kCorrupt, std::move(message), line()};
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace quire::jinja

// The template lexer: text to tokens, with Jinja's whitespace rules as transformers sets them
// (trim_blocks and lstrip_blocks on, one trailing newline dropped, newlines normalised).
//
// Pure function, thread safe. Failures carry kCorrupt and the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quire::jinja {

enum class TokenKind {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text;  // data, name, decoded string, digits, or the operator itself
};

std::vector<Token> tokenize(std::string_view source);

}  // namespace quire::jinja

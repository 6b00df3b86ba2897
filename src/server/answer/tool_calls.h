// How models write the calls of tools into their answers, and the parser of each way. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer/delta.h"

namespace quire::server {

enum class ToolSyntax : uint8_t {
  kNone,
  kHermes,   // <tool_call>{"name": ..., "arguments": {...}}</tool_call>, any number (Hermes, Qwen)
  kLlama3,   // the whole answer is {"name": ..., "parameters": {...}}, also behind <|python_tag|>
  kMistral,  // [TOOL_CALLS][{"name": ..., "arguments": {...}}, ...]
};

// What a template says about the way its model calls tools.
ToolSyntax tool_syntax_of(std::string_view template_source);

// How a call begins in an answer that must be one: `open` brings the model to it, `text` is the beginning of
// the call itself, up to where the model goes on; with a name, up to its arguments.
struct CallBeginning {
  std::string open = {};
  std::string text = {};
};
CallBeginning call_beginning(ToolSyntax syntax, std::string_view name = "");

// The calls in the text between the markers, without ids; nothing when it is not of the syntax.
std::optional<std::vector<AnsweredCall>> parse_tool_calls(ToolSyntax syntax, std::string_view text);

}  // namespace quire::server

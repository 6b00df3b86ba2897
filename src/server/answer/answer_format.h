// AnswerFormat: how a model's answers are to be read: thinking and tool calls. Plain data, made once per
// model.
#pragma once

#include <string>
#include <string_view>

#include "server/answer/tool_calls.h"

namespace quire::server {

struct AnswerFormat {
  bool thinks = false;  // <think> ... </think> before the answer
  ToolSyntax tools = ToolSyntax::kNone;
};

inline AnswerFormat answer_format_of(std::string_view template_source) {
  return {.thinks = template_source.find("<think>") != std::string_view::npos ||
                    template_source.find("</think>") != std::string_view::npos,
          .tools = tool_syntax_of(template_source)};
}

}  // namespace quire::server

#include "server/answer/tool_calls.h"

#include <gtest/gtest.h>

namespace quire::server {
namespace {

std::string calls_text(ToolSyntax syntax, std::string_view text) {
  const auto calls = parse_tool_calls(syntax, text);
  if (!calls) return "none";
  std::string out;
  for (const AnsweredCall& call : *calls) out += call.name + call.arguments + ";";
  return out;
}

TEST(ToolCalls, EachSyntax) {
  EXPECT_EQ(calls_text(ToolSyntax::kHermes, R"( {"name": "f", "arguments": {"a": [1, "}"]}} )"),
            R"(f{"a":[1,"}"]};)");
  EXPECT_EQ(calls_text(ToolSyntax::kLlama3, R"({"name": "f", "parameters": {"b": 2}})"), R"(f{"b":2};)");
  EXPECT_EQ(
      calls_text(ToolSyntax::kLlama3, R"({"name": "f", "parameters": {}}; {"name": "g", "parameters": {}})"),
      "f{};g{};");
  EXPECT_EQ(calls_text(ToolSyntax::kMistral, R"([{"name": "f", "arguments": {"a": 1}}, {"name": "g"}])"),
            R"(f{"a":1};g{};)");
  EXPECT_EQ(calls_text(ToolSyntax::kHermes, R"({"name": "f", "arguments": "{\"a\": 1}"})"), R"(f{"a": 1};)");
}

TEST(ToolCalls, WhatIsNone) {
  for (const char* text :
       {"", "text", "{", "{}", R"({"name": 1})", R"({"name": "f", "arguments": 3})", "[1]", "}{"})
    EXPECT_EQ(calls_text(ToolSyntax::kHermes, text), "none") << text;
  EXPECT_EQ(calls_text(ToolSyntax::kNone, R"({"name": "f"})"), "none");
}

TEST(ToolCalls, TemplatesTellTheSyntax) {
  EXPECT_EQ(tool_syntax_of("... <tool_call> ..."), ToolSyntax::kHermes);
  EXPECT_EQ(tool_syntax_of("'[TOOL_CALLS]'"), ToolSyntax::kMistral);
  EXPECT_EQ(tool_syntax_of("Environment: ipython"), ToolSyntax::kLlama3);
  EXPECT_EQ(tool_syntax_of("{{ content }}"), ToolSyntax::kNone);
}

}  // namespace
}  // namespace quire::server

#include "server/answer/tool_calls.h"

#include <nlohmann/json.hpp>

namespace quire::server {
namespace {

using Json = nlohmann::ordered_json;

std::optional<AnsweredCall> call_of(const Json& json) {
  if (!json.is_object()) return {};
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string()) return {};
  AnsweredCall call{.name = name->get<std::string>(), .arguments = "{}"};
  for (const char* key : {"arguments", "parameters"}) {
    const auto arguments = json.find(key);
    if (arguments == json.end() || arguments->is_null()) continue;
    if (!arguments->is_object() && !arguments->is_string()) return {};
    // Some models write the arguments as JSON text in a string.
    call.arguments = arguments->is_string() ? arguments->get<std::string>() : arguments->dump();
    break;
  }
  return call;
}

// Several objects may follow one another, with white space or ';' between (Llama 3).
std::vector<std::string_view> split_objects(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool in_string = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = i;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      parts.push_back(text.substr(begin, i + 1 - begin));
    }
  }
  if (depth != 0) return {};
  return parts;
}

}  // namespace

ToolSyntax tool_syntax_of(std::string_view source) {
  const auto has = [&](std::string_view word) { return source.find(word) != std::string_view::npos; };
  if (has("<tool_call>")) return ToolSyntax::kHermes;
  if (has("[TOOL_CALLS]")) return ToolSyntax::kMistral;
  if (has("<|python_tag|>") || has("Environment: ipython")) return ToolSyntax::kLlama3;
  return ToolSyntax::kNone;
}

CallBeginning call_beginning(ToolSyntax syntax, std::string_view name) {
  const char* const arguments = syntax == ToolSyntax::kLlama3 ? "parameters" : "arguments";
  std::string call = "{\"name\": \"";
  if (!name.empty()) {
    const std::string quoted = Json(name).dump();
    call += quoted.substr(1) + ", \"" + arguments + "\":";  // a space would be part of the model's next token
  }
  switch (syntax) {
    case ToolSyntax::kHermes:
      return {.open = "<tool_call>", .text = "\n" + call};
    case ToolSyntax::kMistral:
      return {.open = "[TOOL_CALLS]", .text = "[" + call};
    case ToolSyntax::kLlama3:
      return {.text = call};
    case ToolSyntax::kNone:
      break;
  }
  return {};
}

std::optional<std::vector<AnsweredCall>> parse_tool_calls(ToolSyntax syntax, std::string_view text) {
  if (syntax == ToolSyntax::kNone) return {};
  std::vector<AnsweredCall> calls;
  for (const std::string_view part : split_objects(text)) {
    const Json json = Json::parse(part, nullptr, false);
    if (json.is_discarded()) return {};
    const Json list = json.is_array() ? json : Json::array({json});
    for (const Json& item : list) {
      std::optional<AnsweredCall> call = call_of(item);
      if (!call) return {};
      calls.push_back(std::move(*call));
    }
  }
  if (calls.empty()) return {};
  return calls;
}

}  // namespace quire::server

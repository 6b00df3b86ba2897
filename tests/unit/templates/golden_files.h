// Readers of tests/data/templates: conversations, contexts and stored results. Test code only.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "tokenizer/templates/chat_template.h"
#include "tokenizer/templates/json_value.h"

namespace quire::test {

inline std::string read_data(const std::string& name) {
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/templates/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Value read_json(const std::string& name) {
  Result<Value> value = value_from_json_text(read_data(name));
  return value.ok() ? *value : Value();
}

inline std::string string_of(const Value* value) {
  const std::string* text = value == nullptr ? nullptr : value->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

inline ChatMessage message_of(const Value& source) {
  ChatMessage message;
  for (const auto& [key, value] : *source.get_if<Value::Dict>()) {
    if (key == "role") {
      message.role = string_of(&value);
    } else if (key == "content") {
      message.content = value;
    } else if (key == "reasoning_content") {
      message.reasoning_content = string_of(&value);
    } else if (key == "tool_call_id") {
      message.tool_call_id = string_of(&value);
    } else if (key == "name") {
      message.name = string_of(&value);
    } else if (key == "tool_calls") {
      for (const Value& call : *value.get_if<Value::List>()) {
        const Value* function = call.find("function");
        message.tool_calls.push_back(
            {string_of(call.find("id")), string_of(function->find("name")), *function->find("arguments")});
      }
    } else {
      message.extra.emplace_back(key, value);
    }
  }
  return message;
}

// The clock of tools/make_template_goldens.py.
inline constexpr LocalTime kGoldenClock{
    .year = 2026, .month = 2, .day = 3, .hour = 14, .minute = 5, .second = 9};

inline TemplateInput conversation_of(const Value& source) {
  TemplateInput input;
  for (const Value& message : *source.find("messages")->get_if<Value::List>()) {
    input.messages.push_back(message_of(message));
  }
  if (const Value* tools = source.find("tools")) input.tools = *tools->get_if<Value::List>();
  input.add_generation_prompt = *source.find("add_generation_prompt")->get_if<bool>();
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  input.now = kGoldenClock;
  if (const Value* variables = source.find("variables")) input.variables = *variables->get_if<Value::Dict>();
  return input;
}

// Compares a render with a stored result; an empty string means agreement.
inline std::string disagreement(const Result<RenderedPrompt>& got, const Value& golden) {
  if (const Value* text = golden.find("text")) {
    if (!got.ok()) return "expected text, got error: " + got.error().message;
    return got->text() == string_of(text) ? ""
                                          : "expected: " + string_of(text) + "\n     got: " + got->text();
  }
  if (got.ok()) return "expected an error (" + string_of(golden.find("error")) + "), got: " + got->text();
  if (const Value* words = golden.find("raise")) {
    if (got.error().message != string_of(words))
      return "expected the words " + string_of(words) + ", got " + got.error().message;
    if (got.error().code != ErrorCode::kInvalidArgument) return "raise_exception must be an invalid argument";
  }
  return got.error().code == ErrorCode::kInternal ? "an internal error" : "";
}

inline Result<RenderedPrompt> render_source(const std::string& source, const TemplateInput& input) {
  QUIRE_ASSIGN_OR_RETURN(ChatTemplate parsed, ChatTemplate::parse(source, "test"));
  return parsed.render(input);
}

}  // namespace quire::test

#include "server/api/chat_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "tokenizer/templates/json_value.h"

namespace quire::server {
namespace {

constexpr size_t kMaxMessages = 65536;

std::optional<std::string> role_of(std::string_view role) {
  if (role == "developer") return "system";
  for (const char* known : {"system", "user", "assistant", "tool"}) {
    if (role == known) return known;
  }
  return {};
}

// Arguments that are JSON text become what the text says: templates write them in the model's own way.
Value arguments_value(const Json& arguments) {
  if (!arguments.is_string()) {
    Result<Value> value = value_from_json(arguments);
    return value.ok() ? std::move(*value) : Value();
  }
  const auto& text = arguments.get_ref<const std::string&>();
  Result<Value> value = value_from_json_text(text);
  if (value.ok() && value->get_if<Value::Dict>() != nullptr) return std::move(*value);
  return Value(text);
}

ApiResult<std::vector<ToolCall>> read_calls(const Fields& outer, const Json& calls,
                                            const std::string& where) {
  std::vector<ToolCall> out;
  for (size_t i = 0; i < calls.size(); ++i) {
    Fields fields(calls[i], fmt::format("{}.tool_calls[{}]", where, i), outer);
    ToolCall call{.id = fields.text("id").value_or("")};
    fields.refuse("type", "only functions can be called", {"function"});
    fields.ignore({"index"});
    const Json* const function = fields.object("function");
    if (function == nullptr) {
      fields.fail("function", "is missing");
    } else {
      Fields inner(*function, fmt::format("{}.tool_calls[{}].function", where, i), fields);
      const std::optional<std::string> name = inner.text("name");
      if (!name) inner.fail("name", "is missing");
      call.name = name.value_or("");
      const Json* const arguments = inner.any("arguments");
      if (arguments != nullptr && !arguments->is_string() && !arguments->is_object())
        inner.fail("arguments", "expected the text of a JSON object");
      call.arguments = arguments == nullptr ? Value(Value::Dict()) : arguments_value(*arguments);
      const ApiStatus known = inner.finish();
      if (!known.ok()) fields.fail(known.error());
    }
    QUIRE_RETURN_IF_ERROR(fields.finish());
    out.push_back(std::move(call));
  }
  return out;
}

ApiResult<ChatMessage> read_message(const Fields& outer, const Json& json, const std::string& where) {
  Fields fields(json, where, outer);
  ChatMessage message;
  const std::optional<std::string> role = fields.text("role");
  if (!role) {
    fields.fail("role", "is missing");
  } else if (const std::optional<std::string> known = role_of(*role)) {
    message.role = *known;
  } else {
    fields.fail("role", "must be system, developer, user, assistant or tool");
  }
  const bool assistant = message.role == "assistant";
  if (const Json* const calls = fields.array("tool_calls")) {
    if (!assistant) fields.fail("tool_calls", "is for messages of the assistant");
    QUIRE_ASSIGN_OR_RETURN(message.tool_calls, read_calls(fields, *calls, where));
  }
  if (const Json* const content = fields.any("content", R"({"type": ["string", "array", "null"]})")) {
    QUIRE_ASSIGN_OR_RETURN(std::string text, content_text(*content, where + ".content"));
    message.content = Value(std::move(text));
  } else if (!assistant || message.tool_calls.empty()) {
    fields.fail("content", "is missing");
  }
  message.reasoning_content = fields.text("reasoning_content").value_or("");
  message.tool_call_id = fields.text("tool_call_id").value_or("");
  message.name = fields.text("name").value_or("");
  fields.refuse("function_call", "use tool_calls");
  fields.refuse("audio", "only text is supported");
  fields.ignore({"refusal", "annotations"});
  QUIRE_RETURN_IF_ERROR(fields.finish());
  return message;
}

void read_messages(Fields& fields, ChatConversation& conversation) {
  const Json* const messages = fields.array("messages");
  if (messages == nullptr) return fields.fail("messages", "an array of messages is needed");
  if (messages->empty()) return fields.fail("messages", "there must be at least one");
  if (messages->size() > kMaxMessages) return fields.fail("messages", "there are too many");
  for (size_t i = 0; i < messages->size(); ++i) {
    ApiResult<ChatMessage> message = read_message(fields, (*messages)[i], fmt::format("messages[{}]", i));
    if (!message.ok()) return fields.fail(message.error());
    conversation.input.messages.push_back(std::move(*message));
  }
}

// A last message of the assistant is the beginning of the answer.
void take_beginning(Fields& fields, ChatConversation& conversation) {
  std::vector<ChatMessage>& messages = conversation.input.messages;
  const std::optional<bool> asked = fields.flag("continue_final_message");
  const std::optional<bool> prompt = fields.flag("add_generation_prompt");
  if (asked && prompt && *asked && *prompt)
    fields.fail("continue_final_message", "contradicts add_generation_prompt");
  const bool last_is_assistant = !messages.empty() && messages.back().role == "assistant";
  if (asked.value_or(false) && !last_is_assistant)
    fields.fail("continue_final_message", "the last message is not the assistant's");
  conversation.input.add_generation_prompt = prompt.value_or(true) || asked.value_or(false);
  if (!last_is_assistant || !asked.value_or(true)) return;
  ChatMessage& last = messages.back();
  if (!last.tool_calls.empty())
    return fields.fail("messages", "the last message calls tools: results must follow");
  if (messages.size() > 1 && messages[messages.size() - 2].role == "assistant")
    return fields.fail("messages", "two messages of the assistant are at the end");
  if (const auto* const text = last.content.get_if<std::string>()) conversation.beginning = *text;
  messages.pop_back();
  if (messages.empty()) fields.fail("messages", "there must be one before the beginning of the answer");
}

// "auto", "none", "required", or the function that must be called: {"type": "function", "function":
// {"name"}}, in Responses without the inner object.
void read_tool_choice(Fields& fields, const Json& choice, ChatConversation& conversation) {
  if (choice == "auto" || choice == "none") return;
  conversation.tool_use = ToolUse::kMust;
  if (choice == "required") return;
  const bool is_function = choice.is_object() && choice.value("type", Json()) == "function";
  const Json function = is_function ? choice.value("function", choice) : Json();
  const Json name = function.is_object() ? function.value("name", Json()) : Json();
  if (!name.is_string() || name == "")
    return fields.fail("tool_choice", "must be auto, none, required, or a function with a name");
  conversation.tool = name.get<std::string>();
}

std::string_view name_of(const Value& tool) {
  const Value* const function = tool.find("function");
  const Value* const name = function == nullptr ? nullptr : function->find("name");
  const auto* const text = name == nullptr ? nullptr : name->get_if<std::string>();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

void read_tools(Fields& fields, ChatConversation& conversation) {
  for (const char* name : {"functions", "function_call"}) fields.refuse(name, "use tools and tool_choice");
  const Json* const tools = fields.array("tools");
  const Json* const choice = fields.any("tool_choice", R"({"type": ["string", "object", "null"]})");
  if (choice != nullptr) read_tool_choice(fields, *choice, conversation);
  if (tools == nullptr) return;
  for (size_t i = 0; i < tools->size(); ++i) {
    const Json& tool = (*tools)[i];
    const bool is_function = tool.is_object() && tool.value("type", Json()) == "function" &&
                             tool.contains("function") && tool["function"].is_object() &&
                             tool["function"].contains("name") && tool["function"]["name"].is_string();
    if (!is_function) return fields.fail("tools", fmt::format("tool {} must be a function with a name", i));
    Result<Value> value = value_from_json(tool);
    if (!value.ok()) return fields.fail("tools", value.error().message);
    conversation.input.tools.push_back(std::move(*value));
  }
  if (choice != nullptr && *choice == "none") conversation.input.tools.clear();
}

// A choice needs something to choose from.
void check_tool_choice(Fields& fields, const ChatConversation& conversation) {
  if (conversation.tool_use == ToolUse::kMay) return;
  if (conversation.input.tools.empty()) return fields.fail("tool_choice", "needs tools");
  if (!conversation.beginning.empty())
    return fields.fail("tool_choice", "the last message has begun the answer");
  if (conversation.tool.empty()) return;
  const bool known = std::ranges::any_of(
      conversation.input.tools, [&](const Value& tool) { return name_of(tool) == conversation.tool; });
  if (!known) fields.fail("tool_choice", "names a function that is not among the tools");
}

void read_thinking(Fields& fields, TemplateInput& input) {
  if (const std::optional<std::string> effort = fields.text("reasoning_effort")) {
    if (*effort == "none") {
      input.enable_thinking = false;
    } else {
      input.reasoning_effort = *effort;
    }
  }
  for (const char* name : {"reasoning_budget_tokens", "thinking_budget_tokens"})
    fields.refuse(name, "not supported", {-1});
  fields.refuse("reasoning_budget_message", "not supported", {""});
  if (const Json* const variables = fields.object("chat_template_kwargs")) {
    const Result<Value> value = value_from_json(*variables);
    if (!value.ok()) return fields.fail("chat_template_kwargs", value.error().message);
    if (const auto* const dict = value->get_if<Value::Dict>()) input.variables = *dict;
  }
}

}  // namespace

ApiResult<std::string> content_text(const Json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return invalid_field(where, "expected a string or an array of parts");
  if (value.empty()) return invalid_field(where, "there must be at least one part");
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    Fields part(value[i], fmt::format("{}[{}]", where, i));
    const std::optional<std::string> type = part.text("type");
    if (!type) {
      part.fail("type", "is missing");
    } else if (*type != "text" && *type != "input_text" && *type != "output_text") {
      part.fail("type", "only parts of type text are supported");
    }
    const std::optional<std::string> piece = part.text("text");
    if (!piece) part.fail("text", "is missing");
    part.ignore({"annotations", "logprobs", "cache_control", "citations"});
    QUIRE_RETURN_IF_ERROR(part.finish());
    if (i > 0) text += '\n';
    text += *piece;
  }
  return text;
}

LocalTime local_time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  return {.year = local.tm_year + 1900,
          .month = local.tm_mon + 1,
          .day = local.tm_mday,
          .hour = local.tm_hour,
          .minute = local.tm_min,
          .second = local.tm_sec};
}

ChatConversation read_conversation(Fields& fields) {
  ChatConversation conversation;
  conversation.input.now = local_time_now();
  read_messages(fields, conversation);
  take_beginning(fields, conversation);
  read_tools(fields, conversation);
  check_tool_choice(fields, conversation);
  read_thinking(fields, conversation.input);
  return conversation;
}

}  // namespace quire::server

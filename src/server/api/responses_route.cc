#include "server/api/responses_route.h"

#include <fmt/format.h>

#include "server/api/chat_route.h"
#include "server/api/responses_answer.h"

namespace quire::server {
namespace {

std::string text_of(const Json& item, const char* name) {
  const auto at = item.find(name);
  return at != item.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// One item of the input, added to messages of a chat.
ApiStatus add_item(const Json& item, const std::string& where, Json& messages) {
  if (!item.is_object()) return invalid_field(where, "expected an object");
  const std::string type = item.contains("type") ? text_of(item, "type") : "message";
  if (type == "message") {
    messages.push_back({{"role", item.value("role", Json())}, {"content", item.value("content", Json())}});
  } else if (type == "function_call") {
    Json call = {{"id", text_of(item, "call_id")},
                 {"type", "function"},
                 {"function", {{"name", text_of(item, "name")}, {"arguments", text_of(item, "arguments")}}}};
    // Calls that follow one another are one message.
    if (messages.empty() || !messages.back().contains("tool_calls"))
      messages.push_back({{"role", "assistant"}, {"tool_calls", Json::array()}});
    messages.back()["tool_calls"].push_back(std::move(call));
  } else if (type == "function_call_output") {
    messages.push_back({{"role", "tool"},
                        {"tool_call_id", text_of(item, "call_id")},
                        {"content", item.value("output", Json())}});
  } else if (type != "reasoning") {  // what was thought before is not part of a prompt
    return invalid_field(where + ".type",
                         "must be message, function_call, function_call_output or reasoning");
  }
  return Nothing{};
}

ApiResult<Json> messages_of(Fields& fields) {
  Json messages = Json::array();
  if (const std::optional<std::string> instructions = fields.text("instructions"))
    messages.push_back({{"role", "system"}, {"content", *instructions}});
  const Json* const input = fields.any("input", R"({"type": ["string", "array"]})");
  if (input == nullptr) return invalid_field("input", "is missing");
  if (input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
    return messages;
  }
  if (!input->is_array()) return invalid_field("input", "expected a string or an array of items");
  for (size_t i = 0; i < input->size(); ++i) {
    QUIRE_RETURN_IF_ERROR(add_item((*input)[i], fmt::format("input[{}]", i), messages));
  }
  return messages;
}

// {"type": "function", "name", ...} to the nested form of chats.
ApiResult<Json> tools_of(Fields& fields) {
  Json tools = Json::array();
  const Json* const list = fields.array("tools");
  if (list == nullptr) return tools;
  for (const Json& tool : *list) {
    if (!tool.is_object() || tool.value("type", Json()) != "function")
      return invalid_field("tools", "only tools of type function are supported");
    Json function = tool;
    function.erase("type");
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return tools;
}

void read_text_format(Fields& fields) {
  const Json* const text = fields.object("text");
  if (text == nullptr) return;
  Fields inner(*text, "text", fields);
  inner.refuse("format", "grammars and schemas are not supported yet", {{{"type", "text"}}});
  inner.ignore({"verbosity"});
  const ApiStatus known = inner.finish();
  if (!known.ok()) fields.fail(known.error());
}

Json chat_of(Fields& fields) {
  Json chat;
  ApiResult<Json> messages = messages_of(fields), tools = tools_of(fields);
  if (!messages.ok()) fields.fail(messages.error());
  if (!tools.ok()) fields.fail(tools.error());
  if (messages.ok()) chat["messages"] = std::move(*messages);
  if (tools.ok() && !tools->empty()) chat["tools"] = std::move(*tools);
  if (const Json* const choice = fields.any("tool_choice")) chat["tool_choice"] = *choice;
  if (const Json* const reasoning = fields.object("reasoning")) {
    Fields inner(*reasoning, "reasoning", fields);
    if (const auto effort = inner.text("effort")) chat["reasoning_effort"] = *effort;
    inner.ignore({"summary", "generate_summary"});
    const ApiStatus known = inner.finish();
    if (!known.ok()) fields.fail(known.error());
  }
  return chat;
}

}  // namespace

ApiResult<AnswerJob> responses(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  GenerationAsk ask = read_generation(fields, call.model, LogprobFields::kFlag);
  ask.settings.max_tokens = fields.integer("max_output_tokens", 1, INT32_MAX).value_or(-1);
  if (ask.n != 1) fields.fail("n", "a response has one choice");
  read_text_format(fields);
  fields.refuse("previous_response_id", "responses are not stored");
  fields.refuse("conversation", "conversations are not stored");
  fields.refuse("prompt", "prompts are not stored");
  fields.refuse("background", "is not supported", {false});
  fields.refuse("truncation", "inputs are not cut", {"disabled"});
  fields.refuse("return_tokens", "is for /completion", {false});
  fields.refuse("max_tool_calls", "is not supported");
  fields.ignore({"include"});
  const bool parallel_calls = fields.flag("parallel_tool_calls").value_or(true);
  const Json chat = chat_of(fields);
  QUIRE_RETURN_IF_ERROR(fields.finish());

  Fields chat_fields(chat);
  ChatConversation conversation = read_conversation(chat_fields);
  QUIRE_RETURN_IF_ERROR(chat_fields.finish());
  QUIRE_ASSIGN_OR_RETURN(ChatPlan plan, plan_chat(call.model, std::move(conversation), ask));
  plan.reader.split_thinking = call.model.answers().thinks;
  if (!parallel_calls) plan.reader.tool_calls = ToolCallCount::kOne;
  AnswerJob job{.plan = {.reader = std::move(plan.reader)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, {std::move(plan.prompt)}));
  job.make_writer = [head = make_head(call, "resp_", ask),
                     delivery = ask.style.delivery](std::shared_ptr<Reply> reply) {
    return make_responses_writer(head, delivery, std::move(reply));
  };
  return job;
}

ApiResult<Json> count_response_tokens(const ApiCall& call) { return input_tokens(responses(call)); }

}  // namespace quire::server

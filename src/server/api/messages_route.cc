#include "server/api/messages_route.h"

#include <fmt/format.h>

#include <random>

#include "server/api/chat_route.h"
#include "server/api/messages_answer.h"

namespace quire::server {
namespace {

std::string member_text(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// Blocks of one message to messages of a chat: results of tools become messages of their own.
ApiStatus add_message(const Fields& outer, const Json& message, const std::string& where, Json& messages) {
  Fields fields(message, where, outer);
  const Json role = fields.text("role").value_or("");
  if (role != "user" && role != "assistant") fields.fail("role", "must be user or assistant");
  const Json* const content = fields.any("content", R"({"type": ["string", "array"]})");
  if (content == nullptr) fields.fail("content", "is missing");
  QUIRE_RETURN_IF_ERROR(fields.finish());
  if (content->is_string()) {
    messages.push_back({{"role", role}, {"content", *content}});
    return Nothing{};
  }
  if (!content->is_array())
    return invalid_field(where + ".content", "expected a string or an array of blocks");

  Json parts = Json::array(), calls = Json::array();
  std::string thinking;
  for (size_t i = 0; i < content->size(); ++i) {
    const Json& block = (*content)[i];
    const std::string type = block.is_object() ? member_text(block, "type") : "";
    if (type == "text") {
      parts.push_back({{"type", "text"}, {"text", block.value("text", Json())}});
    } else if (type == "thinking") {
      thinking += member_text(block, "thinking");
    } else if (type == "redacted_thinking") {
      continue;
    } else if (type == "tool_use") {
      calls.push_back(
          {{"id", member_text(block, "id")},
           {"type", "function"},
           {"function",
            {{"name", member_text(block, "name")}, {"arguments", block.value("input", Json::object())}}}});
    } else if (type == "tool_result") {
      messages.push_back({{"role", "tool"},
                          {"tool_call_id", member_text(block, "tool_use_id")},
                          {"content", block.value("content", Json(""))}});
    } else {
      return invalid_field(fmt::format("{}.content[{}].type", where, i),
                           "this kind of block is not supported");
    }
  }
  if (parts.empty() && calls.empty()) return Nothing{};
  Json out = {{"role", role}};
  if (!parts.empty()) out["content"] = std::move(parts);
  if (!thinking.empty()) out["reasoning_content"] = std::move(thinking);
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  messages.push_back(std::move(out));
  return Nothing{};
}

// Some clients put a stamp that changes with every request into the first line of the system prompt; with it
// no prefix would ever be shared.
std::string without_stamp(std::string text) {
  if (!text.starts_with("x-anthropic-billing-header")) return text;
  const size_t begin = text.find("cch=");
  const size_t line_end = text.find('\n');
  if (begin == std::string::npos || begin > line_end) return text;
  const size_t end = text.find_first_of("; \n", begin);
  return text.erase(begin, end == std::string::npos ? std::string::npos : end - begin);
}

ApiResult<Json> messages_of(Fields& fields) {
  Json messages = Json::array();
  if (const Json* const system = fields.any("system", R"({"type": ["string", "array", "null"]})")) {
    QUIRE_ASSIGN_OR_RETURN(std::string text, content_text(*system, "system"));
    messages.push_back({{"role", "system"}, {"content", without_stamp(std::move(text))}});
  }
  const Json* const list = fields.array("messages");
  if (list == nullptr) return invalid_field("messages", "an array of messages is needed");
  for (size_t i = 0; i < list->size(); ++i) {
    QUIRE_RETURN_IF_ERROR(add_message(fields, (*list)[i], fmt::format("messages[{}]", i), messages));
  }
  return messages;
}

ApiResult<Json> tools_of(Fields& fields) {
  Json tools = Json::array();
  const Json* const list = fields.array("tools");
  if (list == nullptr) return tools;
  for (const Json& tool : *list) {
    if (!tool.is_object() || !tool.contains("input_schema"))
      return invalid_field("tools", "only tools with an input_schema are supported");
    Json function = {{"name", member_text(tool, "name")}};
    if (tool.contains("description")) function["description"] = tool["description"];
    function["parameters"] = tool["input_schema"];
    tools.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return tools;
}

struct ToolChoice {
  Json chat = "auto";
  ToolCallCount count = ToolCallCount::kAny;
};

ToolChoice read_tool_choice(Fields& fields) {
  ToolChoice choice;
  const Json* const json = fields.object("tool_choice");
  if (json == nullptr) return choice;
  Fields inner(*json, "tool_choice", fields);
  const std::string type = inner.text("type").value_or("auto");
  const std::optional<std::string> name = inner.text("name");
  if (type == "tool" && name) {
    choice.chat = {{"type", "function"}, {"function", {{"name", *name}}}};
  } else if (type == "any") {
    choice.chat = "required";
  } else if (type == "auto" || type == "none") {
    choice.chat = type;
  } else {
    inner.fail("type", "must be auto, any, none, or tool with a name");
  }
  if (inner.flag("disable_parallel_tool_use").value_or(false)) choice.count = ToolCallCount::kOne;
  const ApiStatus known = inner.finish();
  if (!known.ok()) fields.fail(known.error());
  return choice;
}

struct MessagesAsk {
  Json chat;
  ToolCallCount tool_calls = ToolCallCount::kAny;
};

// The conversation, for both routes.
MessagesAsk read_messages_ask(Fields& fields) {
  MessagesAsk ask;
  ApiResult<Json> messages = messages_of(fields), tools = tools_of(fields);
  if (!messages.ok()) fields.fail(messages.error());
  if (!tools.ok()) fields.fail(tools.error());
  const ToolChoice choice = read_tool_choice(fields);
  ask.tool_calls = choice.count;
  if (const Json* const thinking = fields.object("thinking")) {
    Fields inner(*thinking, "thinking", fields);
    const std::string type = inner.text("type").value_or("");
    if (type != "enabled" && type != "disabled" && type != "adaptive")
      inner.fail("type", "must be enabled, adaptive or disabled");
    inner.ignore({"budget_tokens", "display"});  // thinking ends when the model says so
    const ApiStatus known = inner.finish();
    if (!known.ok()) fields.fail(known.error());
    ask.chat["chat_template_kwargs"] = {{"enable_thinking", type != "disabled"}};
  }
  if (fields.failed()) return ask;
  ask.chat["messages"] = std::move(*messages);
  if (!tools->empty()) ask.chat["tools"] = std::move(*tools);
  ask.chat["tool_choice"] = choice.chat;
  return ask;
}

ApiResult<ChatPlan> plan_of(const ServedModel& model, const MessagesAsk& ask,
                            const GenerationAsk& generation) {
  Fields fields(ask.chat);
  ChatConversation conversation = read_conversation(fields);
  QUIRE_RETURN_IF_ERROR(fields.finish());
  QUIRE_ASSIGN_OR_RETURN(ChatPlan plan, plan_chat(model, std::move(conversation), generation));
  plan.reader.split_thinking = model.answers().thinks;
  if (ask.tool_calls == ToolCallCount::kOne) plan.reader.tool_calls = ToolCallCount::kOne;
  plan.reader.call_id_prefix = "toolu_";
  return plan;
}

}  // namespace

ApiResult<AnswerJob> messages(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  GenerationAsk ask{.settings = {.sampling = call.model.sampling()}};
  ask.settings.seed = uint64_t{std::random_device{}()};
  read_sampling(fields, ask.settings.sampling);
  read_stops(fields, "stop_sequences", ask.settings.stop);
  constexpr int64_t kDefaultMaxTokens = 4096;
  ask.settings.max_tokens = fields.integer("max_tokens", 1, INT32_MAX).value_or(kDefaultMaxTokens);
  if (fields.flag("stream").value_or(false)) ask.style.delivery = Delivery::kStream;
  fields.ignore({"metadata", "service_tier", "cache_control", "inference_geo"});
  const MessagesAsk asked = read_messages_ask(fields);
  QUIRE_RETURN_IF_ERROR(fields.finish());

  QUIRE_ASSIGN_OR_RETURN(ChatPlan plan, plan_of(call.model, asked, ask));
  const auto n_prompt = static_cast<int64_t>(plan.prompt.size());
  AnswerJob job{.plan = {.reader = std::move(plan.reader)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, {std::move(plan.prompt)}));
  job.make_writer = [head = make_head(call, "msg_", ask), delivery = ask.style.delivery,
                     n_prompt](std::shared_ptr<Reply> reply) {
    return make_messages_writer(head, delivery, n_prompt, std::move(reply));
  };
  return job;
}

ApiResult<Json> count_message_tokens(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  const MessagesAsk asked = read_messages_ask(fields);
  fields.ignore({"cache_control"});
  QUIRE_RETURN_IF_ERROR(fields.finish());
  QUIRE_ASSIGN_OR_RETURN(const ChatPlan plan, plan_of(call.model, asked, {}));
  return Json{{"input_tokens", plan.prompt.size()}};
}

}  // namespace quire::server

#include "server/api/chat_route.h"

#include <utility>

#include "server/api/chat_answer.h"

namespace quire::server {
namespace {

ApiStatus check_tools(const ServedModel& model, const TemplateInput& input) {
  if (input.tools.empty()) return Nothing{};
  if (model.chat().chat_template().mentions("tools") && model.answers().tools != ToolSyntax::kNone)
    return Nothing{};
  return invalid_field("tools", "this model's chat template knows no tools");
}

// A template without the variable would not see it.
ApiStatus check_effort(const ServedModel& model, const TemplateInput& input) {
  const ChatTemplate& chat_template = model.chat().chat_template();
  if (!input.reasoning_effort || chat_template.mentions("reasoning_effort")) return Nothing{};
  if (chat_template.mentions("enable_thinking") || chat_template.mentions("thinking")) return Nothing{};
  return invalid_field("reasoning_effort", "this model's chat template knows no such setting");
}

bool ends_in_open_thinking(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && text.substr(0, last + 1).ends_with("<think>");
}

// The answer is begun as a call, so that the model has nothing else to go on with.
void begin_call(const ChatConversation& conversation, RenderedPrompt& rendered, ReaderOptions& reader) {
  const CallBeginning call = call_beginning(reader.tools, conversation.tool);
  if (std::exchange(reader.begins_thinking, false))
    rendered.segments.push_back({"\n</think>\n\n", Origin::kTemplate});
  if (!call.open.empty()) rendered.segments.push_back({call.open, Origin::kTemplate});
  rendered.segments.push_back({call.text, Origin::kContent});
  reader.begun_call = call.text;
}

}  // namespace

ApiResult<ChatPlan> plan_chat(const ServedModel& model, ChatConversation conversation,
                              const GenerationAsk& ask) {
  QUIRE_RETURN_IF_ERROR(check_tools(model, conversation.input));
  QUIRE_RETURN_IF_ERROR(check_effort(model, conversation.input));
  ChatPlan plan{.reader = reader_of(ask)};
  if (!conversation.input.tools.empty()) plan.reader.tools = model.answers().tools;
  if (!conversation.tool.empty()) plan.reader.tool_calls = ToolCallCount::kOne;
  QUIRE_ASSIGN_OR_RETURN(RenderedPrompt rendered, model.chat().render(std::move(conversation.input)));
  plan.reader.begins_thinking = conversation.beginning.empty() && ends_in_open_thinking(rendered.text());
  if (conversation.tool_use == ToolUse::kMust) begin_call(conversation, rendered, plan.reader);
  QUIRE_ASSIGN_OR_RETURN(plan.prompt, model.chat().encode(rendered, conversation.beginning));
  return plan;
}

ApiResult<AnswerJob> chat_completions(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  const GenerationAsk ask = read_generation(fields, call.model, LogprobFields::kFlag);
  ChatConversation conversation = read_conversation(fields);
  const std::string thinking = fields.word("reasoning_format", {"auto", "none", "deepseek"}).value_or("auto");
  fields.refuse("echo", "is for text completions", {false});
  fields.refuse("return_tokens", "is for /completion", {false});
  const bool parallel_calls = fields.flag("parallel_tool_calls").value_or(true);
  QUIRE_RETURN_IF_ERROR(fields.finish());

  QUIRE_ASSIGN_OR_RETURN(ChatPlan plan, plan_chat(call.model, std::move(conversation), ask));
  plan.reader.split_thinking = call.model.answers().thinks && thinking != "none";
  if (!parallel_calls) plan.reader.tool_calls = ToolCallCount::kOne;
  AnswerJob job{.plan = {.reader = std::move(plan.reader)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, {std::move(plan.prompt)}));
  job.make_writer = [head = make_head(call, "chatcmpl-", ask), style = ask.style,
                     n = job.plan.choices.size()](std::shared_ptr<Reply> reply) {
    return make_chat_writer(head, style, n, std::move(reply));
  };
  return job;
}

ApiResult<Json> count_chat_tokens(const ApiCall& call) { return input_tokens(chat_completions(call)); }

ApiResult<Json> apply_template(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  ChatConversation conversation = read_conversation(fields);
  QUIRE_RETURN_IF_ERROR(fields.finish());
  QUIRE_RETURN_IF_ERROR(check_tools(call.model, conversation.input));
  QUIRE_ASSIGN_OR_RETURN(const RenderedPrompt rendered,
                         call.model.chat().render(std::move(conversation.input)));
  return Json{{"prompt", rendered.text() + conversation.beginning}};
}

}  // namespace quire::server

#include "tokenizer/templates/input_binding.h"

#include <algorithm>

namespace quire::jinja {
namespace {

bool is_known_role(std::string_view role) {
  static constexpr std::string_view kRoles[] = {
      "system",  "user",  "assistant",   "tool",        "function",    "developer",     "ipython",
      "model",   "human", "environment", "observation", "critic",      "tool_response", "documents",
      "control", "tools", "tool_result", "tool_call",   "tool_results"};
  return std::find(std::begin(kRoles), std::end(kRoles), role) != std::end(kRoles);
}

class Importer {
 public:
  explicit Importer(Heap& heap) : heap_(heap) {}

  Val text(std::string_view bytes, Origin origin = Origin::kContent) { return heap_.view(bytes, origin); }

  void set(const Val& dict, std::string_view key, const Val& value, Origin origin = Origin::kTemplate) {
    dict_insert(heap_.budget(), *dict.dict, heap_.view(key, origin), value);
  }

  Val value(const Value& source, Origin origin) {
    DepthGuard guard(heap_.budget());
    if (const auto* flag = source.get_if<bool>()) return Val::of(*flag, origin);
    if (const auto* number = source.get_if<int64_t>()) return Val::of(*number, origin);
    if (const auto* number = source.get_if<double>()) return Val::of(*number, origin);
    if (const auto* bytes = source.get_if<std::string>()) return text(*bytes, origin);
    if (const auto* number = source.get_if<BigInteger>()) return heap_.big_integer(number->digits, origin);
    if (const auto* items = source.get_if<Value::List>()) return list(*items, origin);
    if (const auto* members = source.get_if<Value::Dict>()) {
      const Val dict = heap_.dict(origin);
      for (const auto& [key, item] : *members) set(dict, key, value(item, origin), origin);
      return dict;
    }
    return Val::none(origin);
  }

  Val list(const Value::List& source, Origin origin) {
    std::vector<Val> items;
    items.reserve(source.size());
    for (const Value& item : source) items.push_back(value(item, origin));
    return heap_.list(std::move(items), ListKind::kList, origin);
  }

  Val tool_call(const ToolCall& call) {
    const Val function = heap_.dict(Origin::kContent);
    set(function, "name", text(call.name), Origin::kContent);
    set(function, "arguments", value(call.arguments, Origin::kContent), Origin::kContent);
    const Val dict = heap_.dict(Origin::kContent);
    if (!call.id.empty()) set(dict, "id", text(call.id), Origin::kContent);
    set(dict, "type", text("function"), Origin::kContent);
    set(dict, "function", function, Origin::kContent);
    return dict;
  }

  Val message(const ChatMessage& message) {
    const Val dict = heap_.dict(Origin::kContent);
    const auto member = [&](std::string_view key, const Val& item) {
      set(dict, key, item, Origin::kContent);
    };
    // gpt-oss templates read `thinking`; transformers fills both names of the reasoning.
    if (!message.reasoning_content.empty()) member("thinking", text(message.reasoning_content));
    member("role", text(message.role, is_known_role(message.role) ? Origin::kTemplate : Origin::kContent));
    if (!message.content.is_none()) member("content", value(message.content, Origin::kContent));
    if (!message.reasoning_content.empty()) member("reasoning_content", text(message.reasoning_content));
    if (!message.tool_calls.empty()) {
      std::vector<Val> calls;
      for (const ToolCall& call : message.tool_calls) calls.push_back(tool_call(call));
      member("tool_calls", heap_.list(std::move(calls), ListKind::kList, Origin::kContent));
    }
    if (!message.tool_call_id.empty()) member("tool_call_id", text(message.tool_call_id));
    if (!message.name.empty()) member("name", text(message.name));
    for (const auto& [key, item] : message.extra) {
      if (!item.is_none()) member(key, value(item, Origin::kContent));
    }
    return dict;
  }

 private:
  Heap& heap_;
};

}  // namespace

Val import_value(Heap& heap, const Value& value, Origin origin) {
  return Importer(heap).value(value, origin);
}

void bind_input(Interpreter& interpreter, const TemplateInput& input) {
  Importer importer(interpreter.heap());
  const auto define = [&](std::string_view name, const Val& value) { interpreter.define(name, value); };
  std::vector<Val> messages;
  for (const ChatMessage& message : input.messages) messages.push_back(importer.message(message));
  define("messages", interpreter.heap().list(std::move(messages), ListKind::kList, Origin::kContent));
  const auto optional_list = [&](const Value::List& items) {
    return items.empty() ? Val::none() : importer.list(items, Origin::kContent);
  };
  define("tools", optional_list(input.tools));
  define("documents", optional_list(input.documents));
  define("add_generation_prompt", Val::of(input.add_generation_prompt));
  define("bos_token", importer.text(input.bos_token, Origin::kTemplate));
  define("eos_token", importer.text(input.eos_token, Origin::kTemplate));
  for (const auto& [name, token] : input.special_tokens)
    define(name, importer.text(token, Origin::kTemplate));
  if (input.enable_thinking) define("enable_thinking", Val::of(*input.enable_thinking));
  if (input.reasoning_effort) define("reasoning_effort", importer.text(*input.reasoning_effort));
  if (input.date_string) define("date_string", importer.text(*input.date_string, Origin::kTemplate));
  for (const auto& [name, value] : input.variables) define(name, importer.value(value, Origin::kContent));
}

}  // namespace quire::jinja

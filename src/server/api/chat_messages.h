// The messages and tools of a chat request, read into what chat templates take.
//
// Content is a string, or a list of text parts, which are joined with "\n". No other kind of part is taken,
// and nothing is ever fetched.
#pragma once

#include <optional>
#include <string>

#include "server/api/fields.h"
#include "tokenizer/templates/chat_template.h"

namespace quire::server {

// Whether the answer must be a call of a tool.
enum class ToolUse : uint8_t { kMay, kMust };

struct ChatConversation {
  TemplateInput input = {};
  ToolUse tool_use = ToolUse::kMay;
  std::string tool = {};       // that must be called; empty: any
  std::string beginning = {};  // of the answer, from a last message of the assistant
};

// Reads `messages` and the fields about templates, tools and thinking. Marks what is wrong in `fields`.
ChatConversation read_conversation(Fields& fields);

// `value` as a request gives it: string, null or list of parts. `part_types`: accepted for text.
ApiResult<std::string> content_text(const Json& value, const std::string& where);

// The wall clock, for templates that print the date.
LocalTime local_time_now();

}  // namespace quire::server

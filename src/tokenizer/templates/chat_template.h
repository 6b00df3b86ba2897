// ChatTemplate: renders a conversation to the prompt text a model was trained on, with the template it ships.
//
// The language is Jinja as transformers configures it (immutable sandbox, trim_blocks, lstrip_blocks, loop
// controls, `generation` tags ignored); output is byte-equal to it. A parsed template is immutable: any
// number of threads may render it at once, and every render is a pure function of its input (the clock is
// part of the input).
//
//   QUIRE_ASSIGN_OR_RETURN(ChatTemplate chat, ChatTemplate::parse(source, "tokenizer.chat_template"));
//   QUIRE_ASSIGN_OR_RETURN(RenderedPrompt prompt, chat.render({.messages = {{.role = "user", .content =
//   "Hi"}}}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tokenizer/templates/clock.h"
#include "tokenizer/templates/provenance.h"
#include "tokenizer/templates/value.h"

namespace quire {

namespace jinja {
struct Tree;
}

struct ToolCall {
  std::string id{};  // empty: the template sees none
  std::string name{};
  Value arguments{};  // a dict in the model's key order, or the JSON text as a string
};

// One message. Members that are empty (or none) are absent for the template, as transformers drops null
// members.
struct ChatMessage {
  std::string role{};  // "system", "user", "assistant", "tool", ...
  Value content{};     // none, a string, or a list of parts ({"type": "text", "text": ...})
  std::string reasoning_content{};
  std::vector<ToolCall> tool_calls{};
  std::string tool_call_id{};
  std::string name{};
  Value::Dict extra{};  // further members, in order
};

struct TemplateInput {
  std::vector<ChatMessage> messages{};
  Value::List tools{};      // JSON schemas in request order; empty: the template sees none
  Value::List documents{};  // for retrieval templates; empty: none
  bool add_generation_prompt = true;
  std::string bos_token{};
  std::string eos_token{};
  std::vector<std::pair<std::string, std::string>>
      special_tokens{};  // further variables: {"pad_token", "<pad>"}
  std::optional<bool> enable_thinking{};
  std::optional<std::string> reasoning_effort{};
  std::optional<std::string> date_string{};  // "26 Jul 2024"; unset: the template decides
  std::optional<LocalTime> now{};            // what strftime_now formats; unset: using it is an error
  Value::Dict variables{};                   // chat_template_kwargs of a request; they override the above
};

// What one render may use. Exceeding any of them is an error of the request (kResourceExhausted).
struct RenderLimits {
  int64_t steps = 20'000'000;  // expressions, statements, loop turns, and 64-byte pieces of text
  size_t memory_bytes = size_t{128} << 20;
  size_t output_bytes = size_t{32} << 20;
  int depth = 600;  // nested evaluations; also bounds the stack
};

// The rendered text in runs of one origin. Control tokens belong to kTemplate runs only.
struct RenderedPrompt {
  std::vector<PromptSegment> segments;
  std::string text() const;
};

class ChatTemplate {
 public:
  // `name` appears in errors. Errors: kCorrupt (syntax, with the line), kUnsupported (include, import,
  // extends, block, autoescape), kResourceExhausted (nesting). A template that would refuse every
  // conversation still parses.
  static Result<ChatTemplate> parse(std::string source, std::string name);

  // What is used for a model without a template: ChatML turns (`<|im_start|>role\ncontent<|im_end|>\n`), text
  // content and text parts, no tools (a conversation with tools is refused by its own words).
  static ChatTemplate default_template();

  // Errors: kInvalidArgument: the template refused the conversation (raise_exception: exactly its own words)
  // or failed on it (name, line, reason); kUnsupported: an unknown filter or test; kResourceExhausted: a
  // limit.
  Result<RenderedPrompt> render(const TemplateInput& input, const RenderLimits& limits = {}) const;

  // True when the template refers to a variable of this name ("tools", "enable_thinking").
  bool mentions(std::string_view variable) const;
  const std::string& name() const { return name_; }

 private:
  ChatTemplate(std::shared_ptr<const jinja::Tree> tree, std::string name)
      : tree_(std::move(tree)), name_(std::move(name)) {}

  std::shared_ptr<const jinja::Tree> tree_;
  std::string name_;
};

}  // namespace quire

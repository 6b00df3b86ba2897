#include "tokenizer/templates/chat_template.h"

#include "tokenizer/templates/failure.h"
#include "tokenizer/templates/input_binding.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/parser.h"

namespace quire {
namespace {

constexpr std::string_view kDefaultTemplate = R"({%- if tools %}
    {{- raise_exception('This model has no chat template of its own, and the default one knows no tools.') }}
{%- endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\n' }}
    {%- if message.content is string %}
        {{- message.content }}
    {%- elif message.content %}
        {%- for part in message.content %}
            {%- if part.type != 'text' %}
                {{- raise_exception('The default chat template renders text parts only.') }}
            {%- endif %}
            {{- part.text }}
        {%- endfor %}
    {%- endif %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
)";

Error to_error(const jinja::Failure& failure, const std::string& name) {
  if (failure.verbatim) return Error{failure.code, failure.message};
  return make_error(failure.code, "chat template {}, line {}: {}", name, failure.line, failure.message);
}

}  // namespace

std::string RenderedPrompt::text() const {
  std::string all;
  for (const PromptSegment& segment : segments) all += segment.text;
  return all;
}

Result<ChatTemplate> ChatTemplate::parse(std::string source, std::string name) {
  try {
    std::shared_ptr<const jinja::Tree> tree = jinja::parse_template(source);
    return ChatTemplate(std::move(tree), std::move(name));
  } catch (const jinja::Failure& failure) {
    return to_error(failure, name);
  }
}

ChatTemplate ChatTemplate::default_template() {
  Result<ChatTemplate> parsed = parse(std::string(kDefaultTemplate), "chatml (built in)");
  return std::move(parsed).value();
}

Result<RenderedPrompt> ChatTemplate::render(const TemplateInput& input, const RenderLimits& limits) const {
  try {
    jinja::Budget budget(limits.steps, limits.memory_bytes, limits.depth);
    jinja::Heap heap(budget);
    jinja::Interpreter interpreter(*tree_, heap, input.now);
    bind_input(interpreter, input);
    jinja::TextBuilder out(budget, limits.output_bytes);
    interpreter.render(out);
    return RenderedPrompt{out.segments()};
  } catch (const jinja::Failure& failure) {
    return to_error(failure, name_);
  }
}

bool ChatTemplate::mentions(std::string_view variable) const { return tree_->symbol_ids.contains(variable); }

}  // namespace quire

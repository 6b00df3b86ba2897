// Fuzzes the template engine: the input is a template, a line with "%%", and the request's variables as JSON.
// Any input must end in a text or an error within small limits; the text's segments never repeat an origin.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tokenizer/templates/chat_template.h"
#include "tokenizer/templates/json_value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find("\n%%\n");
  const quire::Result<quire::ChatTemplate> parsed =
      quire::ChatTemplate::parse(std::string(all.substr(0, cut)), "fuzz");
  if (!parsed.ok()) return 0;
  quire::TemplateInput input;
  input.now = quire::LocalTime{.year = 2026, .month = 2, .day = 3};
  input.messages.push_back({.role = "user", .content = quire::Value("Hello <|im_end|> \xC3\xA9\xFF")});
  input.messages.push_back(
      {.role = "assistant", .tool_calls = {{"id", "f", quire::Value::dict({{"a", 1}})}}});
  if (cut != std::string_view::npos) {
    const quire::Result<quire::Value> variables = quire::value_from_json_text(all.substr(cut + 4));
    if (variables.ok() && variables->get_if<quire::Value::Dict>() != nullptr) {
      input.variables = *variables->get_if<quire::Value::Dict>();
    }
  }
  const quire::RenderLimits limits{
      .steps = 200'000, .memory_bytes = size_t{16} << 20, .output_bytes = size_t{1} << 20};
  const quire::Result<quire::RenderedPrompt> prompt = parsed->render(input, limits);
  if (!prompt.ok()) return 0;
  for (size_t i = 1; i < prompt->segments.size(); ++i) {
    if (prompt->segments[i].origin == prompt->segments[i - 1].origin) std::abort();
  }
  return 0;
}

#include "server/api/text_route.h"

#include <algorithm>

#include "server/api/infill_route.h"
#include "server/api/native_answer.h"
#include "server/api/prompt_fields.h"
#include "server/api/text_answer.h"

namespace quire::server {
namespace {

using TokenIds = std::vector<int32_t>;

// With a suffix the answer stands between the prompt and it.
ApiResult<std::vector<TokenIds>> prompts_of(Fields& fields, const ServedModel& model,
                                            const GenerationAsk& ask) {
  const std::string suffix = fields.text("suffix").value_or("");
  const Json* const prompt = fields.any("prompt");
  if (suffix.empty()) return read_prompts(fields, "prompt", TextUse::kContinued, model.tokenizer());
  if (prompt == nullptr || !prompt->is_string())
    return invalid_field("suffix", "needs a prompt that is one string");
  const int64_t room = model.engine().max_length() - std::max<int64_t>(ask.settings.max_tokens, 1);
  QUIRE_ASSIGN_OR_RETURN(
      TokenIds ids,
      infill_prompt(model.tokenizer(), {.prefix = prompt->get<std::string>(), .suffix = suffix}, room));
  return std::vector<TokenIds>{std::move(ids)};
}

}  // namespace

ApiResult<AnswerJob> text_completions(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  constexpr int64_t kDefaultMaxTokens = 16;  // as OpenAI's API has it
  GenerationAsk ask = read_generation(fields, call.model, LogprobFields::kNumber);
  if (!body.contains("max_tokens") && !body.contains("max_completion_tokens") && !body.contains("n_predict"))
    ask.settings.max_tokens = kDefaultMaxTokens;
  const bool echo = fields.flag("echo").value_or(false);
  if (echo && ask.style.logprobs) ask.reading = PromptReading::kLogprobs;
  fields.refuse("return_tokens", "is for /completion", {false});
  fields.refuse("best_of", "is not supported", {1, ask.n});
  ApiResult<std::vector<TokenIds>> prompts = prompts_of(fields, call.model, ask);
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());

  AnswerJob job{.plan = {.echo = echo ? Echo::kPrompt : Echo::kNo, .reader = reader_of(ask)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, *prompts));
  job.make_writer = [head = make_head(call, "cmpl-", ask), style = ask.style,
                     n = job.plan.choices.size()](std::shared_ptr<Reply> reply) {
    return make_text_writer(head, style, n, std::move(reply));
  };
  return job;
}

ApiResult<AnswerJob> native_completions(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  const GenerationAsk ask = read_native(fields, call.model);
  ApiResult<std::vector<TokenIds>> prompts =
      read_prompts(fields, "prompt", TextUse::kContinued, call.model.tokenizer());
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());
  return native_job(call, ask, *prompts);
}

GenerationAsk read_native(Fields& fields, const ServedModel& model) {
  GenerationAsk ask = read_generation(fields, model, LogprobFields::kNumber);
  ask.style.token_ids = fields.flag("return_tokens").value_or(false);
  return ask;
}

ApiResult<AnswerJob> native_job(const ApiCall& call, const GenerationAsk& ask,
                                const std::vector<TokenIds>& prompts) {
  AnswerJob job{.plan = {.reader = reader_of(ask)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, prompts));
  NativeHead head{.model = call.model.name(), .settings = ask.settings};
  for (const AnswerPlan::Choice& choice : job.plan.choices) {
    QUIRE_ASSIGN_OR_RETURN(std::string text, call.model.tokenizer().decode(
                                                 choice.request.prompt, {.special = RenderSpecial::kShow}));
    head.prompts.push_back(std::move(text));
  }
  job.make_writer = [head = std::move(head), style = ask.style](std::shared_ptr<Reply> reply) {
    return make_native_writer(head, style, std::move(reply));
  };
  return job;
}

}  // namespace quire::server

#include "server/api/text_route.h"

#include <algorithm>

#include "engine/chat.h"
#include "server/api/native_answer.h"
#include "server/api/text_answer.h"

namespace quire::server {
namespace {

constexpr size_t kMaxPrompts = 1024;

using TokenIds = std::vector<int32_t>;

bool is_id(const Json& json) { return json.is_number_integer() && json >= 0 && json <= INT32_MAX; }

// A string, or an array of ids and strings, one after the other.
ApiResult<TokenIds> read_prompt(const Json& json, const Tokenizer& tokenizer) {
  if (json.is_string()) {
    QUIRE_ASSIGN_OR_RETURN(TokenIds ids, raw_prompt(tokenizer, json.get_ref<const std::string&>()));
    return ids;
  }
  TokenIds ids;
  for (const Json& part : json) {
    if (is_id(part)) {
      ids.push_back(part.get<int32_t>());
      continue;
    }
    if (!part.is_string())
      return invalid_field("prompt", "expected a string, token ids, or an array of these");
    const AddSpecial add = ids.empty() ? AddSpecial::kYes : AddSpecial::kNo;
    QUIRE_ASSIGN_OR_RETURN(const TokenIds more,
                           tokenizer.encode(part.get_ref<const std::string&>(), SpecialTokens::kParse, add));
    ids.insert(ids.end(), more.begin(), more.end());
  }
  if (ids.empty()) return invalid_field("prompt", "is empty");
  return ids;
}

// One prompt, or several in an array: of strings, or of arrays.
ApiResult<std::vector<TokenIds>> read_prompts(Fields& fields, const Tokenizer& tokenizer) {
  const Json* const prompt = fields.any("prompt");
  if (prompt == nullptr) return invalid_field("prompt", "is missing");
  const bool several = prompt->is_array() && !prompt->empty() &&
                       std::ranges::none_of(*prompt, [](const Json& part) { return is_id(part); });
  const Json list = several ? *prompt : Json::array({*prompt});
  if (list.size() > kMaxPrompts) return invalid_field("prompt", "there are too many");
  std::vector<TokenIds> prompts;
  for (const Json& one : list) {
    if (!one.is_string() && !one.is_array())
      return invalid_field("prompt", "expected a string, token ids, or an array of these");
    QUIRE_ASSIGN_OR_RETURN(TokenIds ids, read_prompt(one, tokenizer));
    if (ids.empty()) return invalid_field("prompt", "has no tokens");
    prompts.push_back(std::move(ids));
  }
  return prompts;
}

ReaderOptions reader_of(const GenerationAsk& ask) {
  return {.stops = ask.settings.stop, .details = ask.style.logprobs};
}

}  // namespace

ApiResult<AnswerJob> text_completions(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields(body);
  read_model(fields);
  constexpr int64_t kDefaultMaxTokens = 16;  // as OpenAI's API has it
  GenerationAsk ask = read_generation(fields, call.model, LogprobFields::kNumber);
  if (!body.contains("max_tokens") && !body.contains("max_completion_tokens") && !body.contains("n_predict"))
    ask.settings.max_tokens = kDefaultMaxTokens;
  fields.refuse("echo", "is not supported yet", {false});
  fields.refuse("suffix", "is not supported", {""});
  fields.refuse("best_of", "is not supported", {1});
  ApiResult<std::vector<TokenIds>> prompts = read_prompts(fields, call.model.tokenizer());
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());

  AnswerJob job{.plan = {.reader = reader_of(ask)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, *prompts));
  job.make_writer = [head = make_head(call, "cmpl-", ask), style = ask.style,
                     n = job.plan.choices.size()](std::shared_ptr<Reply> reply) {
    return make_text_writer(head, style, n, std::move(reply));
  };
  return job;
}

ApiResult<AnswerJob> native_completions(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields(body);
  read_model(fields);
  const GenerationAsk ask = read_generation(fields, call.model, LogprobFields::kNumber);
  ApiResult<std::vector<TokenIds>> prompts = read_prompts(fields, call.model.tokenizer());
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());

  AnswerJob job{.plan = {.reader = reader_of(ask)}};
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, *prompts));
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

#include "server/api/api_call.h"

#include <chrono>
#include <random>
#include <utility>

#include "server/api/json_text.h"

namespace quire::server {

ApiResult<Json> body_of(const ApiCall& call) {
  const std::string_view type = call.request.header("content-type");
  if (!type.empty() && type.find("json") == std::string_view::npos)
    return ApiError{.message = "the content type must be application/json"};
  return parse_json(call.request.body);
}

// One model is served, whatever name the client has for it.
void read_model(Fields& fields) { fields.text("model"); }

ApiResult<std::vector<AnswerPlan::Choice>> make_choices(const ApiCall& call, const GenerationAsk& ask,
                                                        const std::vector<std::vector<int32_t>>& prompts) {
  // A request that must not share has a domain that nobody else can name.
  std::string extra;
  if (!ask.cache_salt.empty()) extra = "salt " + sha256_hex(ask.cache_salt, 24);
  if (!ask.share_prefix) extra = "once " + make_id("");
  QUIRE_ASSIGN_OR_RETURN(const PrefixScope scope,
                         PrefixScope::create(call.tenant.index() == 0 ? "" : call.tenant.domain(), extra));
  const TenantLimits limits = call.tenant.limits();
  std::vector<AnswerPlan::Choice> choices;
  for (size_t p = 0; p < prompts.size(); ++p) {
    std::vector<int32_t> prompt = prompts[p];
    if (ask.keep_last > 0 && std::cmp_greater(prompt.size(), ask.keep_last))
      prompt.erase(prompt.begin(), prompt.end() - static_cast<std::ptrdiff_t>(ask.keep_last));
    const auto n_prompt = static_cast<int64_t>(prompt.size());
    const int64_t n_ctx = call.model.engine().max_length();
    if (n_prompt >= n_ctx) {
      return ApiError{.kind = ApiErrorKind::kContextSize,
                      .message = fmt::format("the prompt has {} tokens, the context holds {}, and an answer "
                                             "needs at least one",
                                             n_prompt, n_ctx),
                      .extra = {{"n_prompt_tokens", n_prompt}, {"n_ctx", n_ctx}}};
    }
    for (int32_t i = 0; i < ask.n; ++i) {
      Request request{.prompt = prompt,
                      .settings = ask.settings,
                      .reading = ask.reading,
                      .tenant = call.tenant.index(),
                      .tenant_weight = limits.weight,
                      .priority = limits.priority,
                      .scope = scope};
      request.settings.choice = static_cast<uint32_t>(i);
      choices.push_back({.prompt = p, .request = std::move(request)});
    }
  }
  return choices;
}

ApiResult<Json> input_tokens(const ApiResult<AnswerJob>& job) {
  if (!job.ok()) return job.error();
  return Json{{"object", "response.input_tokens"},
              {"input_tokens", job->plan.choices.front().request.prompt.size()}};
}

std::string make_id(std::string_view prefix) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::random_device random;
  std::string id(prefix);
  for (int i = 0; i < 32; ++i) id += kAlphabet[random() % kAlphabet.size()];
  return id;
}

AnswerHead make_head(const ApiCall& call, std::string_view id_prefix, const GenerationAsk& ask) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = make_id(id_prefix),
          .model = call.model.name(),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .seed = ask.settings.seed};
}

}  // namespace quire::server

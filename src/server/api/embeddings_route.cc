#include "server/api/embeddings_route.h"

#include "engine/pooling.h"
#include "server/api/embeddings_answer.h"
#include "server/api/prompt_fields.h"

namespace quire::server {
namespace {

ApiError not_supported(std::string message) {
  return {.kind = ApiErrorKind::kNotSupported, .message = std::move(message)};
}

ApiResult<PromptReading> reading_of(const Model& model) {
  if (model.n_hidden() == 0) return not_supported("embeddings are off: the server runs with --prompt-rows 0");
  const Result<Pooling> pooling = pooling_of(model);
  if (!pooling.ok()) return not_supported("embeddings: " + pooling.error().message);
  if (*pooling == Pooling::kMean) return PromptReading::kMeanState;
  if (*pooling == Pooling::kLast) return PromptReading::kLastState;
  return not_supported("embeddings: the file wants the state at the first token, which is for encoders");
}

// What both routes do once their fields are read.
ApiResult<AnswerJob> job_of(const ApiCall& call, const std::vector<std::vector<int32_t>>& prompts,
                            const EmbeddingStyle& style) {
  GenerationAsk ask{.settings = {.max_tokens = 0}};
  QUIRE_ASSIGN_OR_RETURN(ask.reading, reading_of(call.model.engine().model()));
  AnswerJob job;
  QUIRE_ASSIGN_OR_RETURN(job.plan.choices, make_choices(call, ask, prompts));
  job.make_writer = [model = call.model.name(), style, n = prompts.size()](std::shared_ptr<Reply> reply) {
    return make_embeddings_writer(model, style, n, std::move(reply));
  };
  return job;
}

}  // namespace

ApiResult<AnswerJob> embeddings(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  EmbeddingStyle style;
  if (fields.word("encoding_format", {"float", "base64"}) == "base64")
    style.encoding = EmbeddingEncoding::kBase64;
  // A beginning of the vector, for models trained that way (Kusupati et al., "Matryoshka Representation
  // Learning", 2022).
  const int64_t n_hidden = call.model.engine().model().n_hidden();
  style.dimensions = fields.integer("dimensions", 1, std::max<int64_t>(n_hidden, 1)).value_or(n_hidden);
  fields.ignore({"user", "metadata"});
  auto prompts = read_prompts(fields, "input", TextUse::kWhole, call.model.tokenizer());
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());
  return job_of(call, *prompts, style);
}

ApiResult<AnswerJob> native_embeddings(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  EmbeddingStyle style{.form = EmbeddingForm::kNative,
                       .norm = static_cast<int32_t>(fields.integer("embd_normalize", -1, 64).value_or(2)),
                       .dimensions = call.model.engine().model().n_hidden()};
  fields.ignore({"user", "metadata"});
  const bool content = body.is_object() && body.contains("content");
  auto prompts = read_prompts(fields, content ? "content" : "input", TextUse::kWhole, call.model.tokenizer());
  if (!prompts.ok()) fields.fail(prompts.error());
  QUIRE_RETURN_IF_ERROR(fields.finish());
  return job_of(call, *prompts, style);
}

ApiResult<Json> rerank(const ApiCall&) {
  return not_supported(
      "reranking needs an encoder with a ranking head, and such models are not supported yet");
}

}  // namespace quire::server

// ApiCall: one authenticated request, as the handlers of the routes see it; and what they answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/answer/answer_task.h"
#include "server/api/generation_fields.h"
#include "server/api/served_model.h"
#include "server/http/message.h"
#include "server/tenants/tenants.h"

namespace quire::server {

struct ApiCall {
  const ServedModel& model;
  const Tenant& tenant;
  const HttpRequest& request;
  FieldLog* log = nullptr;  // hears which fields are read

  Fields fields(const Json& body) const { return Fields(body, "", log); }
};

// An answer of the model, ready to run. `make_writer` binds it to the reply.
struct AnswerJob {
  AnswerPlan plan = {};
  std::function<std::unique_ptr<AnswerWriter>(std::shared_ptr<Reply>)> make_writer = {};
};

// A route either computes its answer at once, or has the model answer. Both are pure functions of the call.
using DirectHandler = ApiResult<Json> (*)(const ApiCall&);
using AnswerHandler = ApiResult<AnswerJob> (*)(const ApiCall&);

// The request's body as JSON.
ApiResult<Json> body_of(const ApiCall& call);

// Checks the field `model`, which may be absent; any name is taken when the server has one model.
void read_model(Fields& fields);

// Requests for n choices of each prompt, choices of one prompt together. Errors: kContextSize with the
// numbers.
ApiResult<std::vector<AnswerPlan::Choice>> make_choices(const ApiCall& call, const GenerationAsk& ask,
                                                        const std::vector<std::vector<int32_t>>& prompts);

// What a route for counting answers: the tokens that this answer's prompt has.
ApiResult<Json> input_tokens(const ApiResult<AnswerJob>& job);

// "chatcmpl-" and the like, with random letters.
std::string make_id(std::string_view prefix);
AnswerHead make_head(const ApiCall& call, std::string_view id_prefix, const GenerationAsk& ask);

}  // namespace quire::server

// POST /v1/responses: OpenAI's Responses API, as a chat of one choice.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<AnswerJob> responses(const ApiCall& call);
ApiResult<Json> count_response_tokens(const ApiCall& call);

}  // namespace quire::server

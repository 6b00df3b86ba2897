// POST /v1/messages and /v1/messages/count_tokens: Anthropic's Messages API, as a chat of one choice.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<AnswerJob> messages(const ApiCall& call);
ApiResult<Json> count_message_tokens(const ApiCall& call);

}  // namespace quire::server

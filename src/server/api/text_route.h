// POST /v1/completions and POST /completion: texts and token ids continued as they stand.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<AnswerJob> text_completions(const ApiCall& call);    // OpenAI's
ApiResult<AnswerJob> native_completions(const ApiCall& call);  // llama.cpp's

}  // namespace quire::server

// POST /v1/completions and POST /completion: texts and token ids continued as they stand.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<AnswerJob> text_completions(const ApiCall& call);    // OpenAI's
ApiResult<AnswerJob> native_completions(const ApiCall& call);  // llama.cpp's

// Its parts, for other routes that answer in its form.
GenerationAsk read_native(Fields& fields, const ServedModel& model);
ApiResult<AnswerJob> native_job(const ApiCall& call, const GenerationAsk& ask,
                                const std::vector<std::vector<int32_t>>& prompts);

}  // namespace quire::server

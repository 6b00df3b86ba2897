// Routes that tell about the model and its tokens: /v1/models, /props, /slots, /tokenize, /detokenize,
// /tokenizer_info. The last three know the names that vLLM has for things, too, for clients that make prompts
// of ids.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<Json> models(const ApiCall& call);
ApiResult<Json> props(const ApiCall& call);
ApiResult<Json> slots(const ApiCall& call);
ApiResult<Json> tokenize(const ApiCall& call);
ApiResult<Json> detokenize(const ApiCall& call);
ApiResult<Json> tokenizer_info(const ApiCall& call);

}  // namespace quire::server

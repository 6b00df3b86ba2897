// POST /v1/embeddings, /embeddings and /embedding: texts to vectors. POST /v1/rerank and its aliases:
// refused.
//
// The state of the last layer, normed, at the last token or as the mean over all tokens, as the file's
// `<architecture>.pooling_type` says; the last token where it says nothing, for the models served here see
// only what came before.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<AnswerJob> embeddings(const ApiCall& call);         // OpenAI's
ApiResult<AnswerJob> native_embeddings(const ApiCall& call);  // llama.cpp's
ApiResult<Json> rerank(const ApiCall& call);

}  // namespace quire::server

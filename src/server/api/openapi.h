// GET /openapi.json: the description of the API, made by running the reading of every route.
//
// Requests: each route reads its example with a FieldLog, so what is described is what is parsed; a field is
// required when the example without it is refused for it. Answers: as the table of routes says.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<Json> openapi(const ApiCall& call);

}  // namespace quire::server

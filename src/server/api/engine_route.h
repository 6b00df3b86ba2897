// GET /engine: the engine as it is, for the page at "/": whose each page of the pool is, and memory by kind.
#pragma once

#include "server/api/api_call.h"

namespace quire::server {

ApiResult<Json> engine_state(const ApiCall& call);

}  // namespace quire::server

// FieldLog: which fields the reading of a request asks for, as a JSON schema of what it takes.
//
// Filled by Fields while a route reads a body, so that the description of the API is the parser's own. A
// plain value; one thread at a time.
//
//   FieldLog log;
//   (*handler)({.model = model, ..., .log = &log});
//   log.schema()                 // {"type": "object", "properties": {...}}
#pragma once

#include <string_view>

#include "server/api/api_error.h"

namespace quire::server {

class FieldLog {
 public:
  // path: the field with what it stands in: "stream_options.include_usage", "messages[0].role". The first
  // word about a field counts, unless it was an empty schema.
  void note(std::string_view path, Json schema);

  const Json& schema() const { return root_; }

 private:
  Json root_ = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
};

}  // namespace quire::server

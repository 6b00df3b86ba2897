// Every route of the API, with its aliases.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "server/api/api_call.h"

namespace quire::server {

enum class Streams : uint8_t { kNo, kYes };

// What /openapi.json says of a route beside what its reading tells. example: a body that is taken, with every
// object that has fields of its own; empty for GET. answer: the members of the answer with their JSON types,
// or the type of an answer that is no object; as JSON.
struct RouteDoc {
  std::string_view about;
  std::string_view example;
  std::string_view answer;
  Streams stream = Streams::kNo;
};

struct Route {
  std::string_view method;
  std::string_view path;
  std::variant<DirectHandler, AnswerHandler> handler;
  const RouteDoc* doc;
  ErrorStyle style = ErrorStyle::kOpenAi;
};

std::span<const Route> route_table();

struct RouteMatch {
  const Route* route = nullptr;  // null: none
  bool path_known = false;       // with another method
};
RouteMatch find_route(std::string_view method, std::string_view path);

}  // namespace quire::server

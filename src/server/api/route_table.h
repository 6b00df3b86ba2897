// Every route of the API, with its aliases.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "server/api/api_call.h"

namespace quire::server {

struct Route {
  std::string_view method;
  std::string_view path;
  std::variant<DirectHandler, AnswerHandler> handler;
  ErrorStyle style = ErrorStyle::kOpenAi;
};

std::span<const Route> route_table();

struct RouteMatch {
  const Route* route = nullptr;  // null: none
  bool path_known = false;       // with another method
};
RouteMatch find_route(std::string_view method, std::string_view path);

}  // namespace quire::server

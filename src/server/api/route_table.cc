#include "server/api/route_table.h"

#include <array>

#include "server/api/chat_route.h"
#include "server/api/engine_route.h"
#include "server/api/info_routes.h"
#include "server/api/messages_route.h"
#include "server/api/responses_route.h"
#include "server/api/text_route.h"

namespace quire::server {
namespace {

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/v1/models", models},
    {"GET", "/models", models},
    {"GET", "/props", props},
    {"GET", "/slots", slots},
    {"GET", "/engine", engine_state},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/apply-template", apply_template},
    {"POST", "/v1/chat/completions", chat_completions},
    {"POST", "/chat/completions", chat_completions},
    {"POST", "/v1/completions", text_completions},
    {"POST", "/completion", native_completions},
    {"POST", "/completions", native_completions},
    {"POST", "/v1/responses", responses},
    {"POST", "/responses", responses},
    {"POST", "/v1/messages", messages, ErrorStyle::kAnthropic},
    {"POST", "/v1/messages/count_tokens", count_message_tokens, ErrorStyle::kAnthropic},
});

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view path) {
  RouteMatch match;
  for (const Route& route : kRoutes) {
    if (route.path != path) continue;
    match.path_known = true;
    if (route.method == method) match.route = &route;
  }
  return match;
}

}  // namespace quire::server

#include "server/api/json_text.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

namespace quire::server {

ApiResult<Json> parse_json(std::string_view text) {
  if (text.empty()) return ApiError{.message = "the body is empty, expected a JSON object"};
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string problem;
  const auto see = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second &&
        problem.empty()) {
      problem = fmt::format("the key {} is given twice", value.dump());
    }
    if (depth > kMaxJsonDepth && problem.empty())
      problem = fmt::format("values are nested deeper than {}", kMaxJsonDepth);
    return true;
  };
  try {
    Json json = Json::parse(text, see);
    if (!problem.empty()) return ApiError{.message = "the body is not acceptable JSON: " + problem};
    return json;
  } catch (const Json::parse_error& e) {
    return ApiError{.message = fmt::format("the body is not valid JSON at byte {}", e.byte)};
  } catch (const Json::exception&) {
    return ApiError{.message = "the body is not valid JSON: a number is out of range"};
  }
}

}  // namespace quire::server

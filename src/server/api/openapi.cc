#include "server/api/openapi.h"

#include "server/api/field_log.h"
#include "server/api/route_table.h"

namespace quire::server {
namespace {

constexpr const char* kJson = "application/json";

// {"name": "type", ...} to the schema of an object with all of these; "array" and the like stand for
// themselves.
Json answer_schema(std::string_view shape) {
  const Json json = Json::parse(shape);
  if (!json.is_object()) return {{"type", json}};
  Json schema = {{"type", "object"}, {"required", Json::array()}, {"properties", Json::object()}};
  for (const auto& [name, type] : json.items()) {
    schema["required"].push_back(name);
    schema["properties"][name] = type == "any" ? Json::object() : Json{{"type", type}};
  }
  return schema;
}

// Of one event.
Json event_schema() {
  const Json text = {{"type", "string"}};
  return {{"type", "object"}, {"required", {"data"}}, {"properties", {{"event", text}, {"data", text}}}};
}

Json error_schema(ErrorStyle style) {
  Json error = {{"type", "object"},
                {"required", {"message", "type"}},
                {"properties", {{"message", {{"type", "string"}}}, {"type", {{"type", "string"}}}}}};
  Json schema = {{"type", "object"}, {"required", {"error"}}, {"properties", {{"error", std::move(error)}}}};
  if (style == ErrorStyle::kAnthropic) schema["properties"]["type"] = {{"const", "error"}};
  return schema;
}

// What the route makes of a body, up to where the model would run.
std::optional<ApiError> read(const ApiCall& call, const Route& route, const Json& body, FieldLog* log) {
  const HttpRequest request{
      .method = std::string(route.method), .path = std::string(route.path), .body = dump(body)};
  const ApiCall trial{.model = call.model, .tenant = call.tenant, .request = request, .log = log};
  if (const auto* const direct = std::get_if<DirectHandler>(&route.handler)) {
    ApiResult<Json> json = (*direct)(trial);
    return json.ok() ? std::nullopt : std::optional(std::move(json).error());
  }
  ApiResult<AnswerJob> job = std::get<AnswerHandler>(route.handler)(trial);
  return job.ok() ? std::nullopt : std::optional(std::move(job).error());
}

Json request_schema(const ApiCall& call, const Route& route, const Json& example) {
  FieldLog log;
  read(call, route, example, &log);
  Json schema = log.schema();
  Json required = Json::array();
  for (const auto& [name, value] : example.items()) {
    Json without = example;
    without.erase(name);
    const std::optional<ApiError> error = read(call, route, without, nullptr);
    if (error && error->param == name) required.push_back(name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json operation(const ApiCall& call, const Route& route) {
  Json content = {{kJson, {{"schema", answer_schema(route.doc->answer)}}}};
  if (route.doc->stream == Streams::kYes) content["text/event-stream"] = {{"schema", event_schema()}};
  const Json error = {{kJson, {{"schema", error_schema(route.style)}}}};
  Json out = {{"summary", route.doc->about},
              {"responses",
               {{"200", {{"description", "the answer"}, {"content", std::move(content)}}},
                {"default", {{"description", "a refusal, or a failure"}, {"content", error}}}}}};
  if (route.doc->example.empty()) return out;
  const Json example = Json::parse(route.doc->example);
  out["requestBody"] = {
      {"required", true},
      {"content", {{kJson, {{"schema", request_schema(call, route, example)}, {"example", example}}}}}};
  return out;
}

std::string lower(std::string_view method) {
  std::string out(method);
  for (char& c : out) c = static_cast<char>(c | 0x20);
  return out;
}

}  // namespace

ApiResult<Json> openapi(const ApiCall& call) {
  Json paths = Json::object();
  for (const Route& route : route_table()) {
    if (std::get_if<DirectHandler>(&route.handler) != nullptr &&
        std::get<DirectHandler>(route.handler) == openapi)
      continue;
    paths[std::string(route.path)][lower(route.method)] = operation(call, route);
  }
  return Json{{"openapi", "3.1.0"},
              {"info", {{"title", "quire"}, {"version", "1"}, {"description", "A model over HTTP."}}},
              {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
              {"security", Json::array({{{"key", Json::array()}}, Json::object()})},
              {"paths", std::move(paths)}};
}

}  // namespace quire::server

#include "server/api/api_error.h"

namespace quire::server {
namespace {

struct KindRow {
  int status;
  const char* open_ai;
  const char* anthropic;
};

KindRow row_of(ApiErrorKind kind) {
  switch (kind) {
    case ApiErrorKind::kInvalidRequest:
      return {400, "invalid_request_error", "invalid_request_error"};
    case ApiErrorKind::kAuthentication:
      return {401, "authentication_error", "authentication_error"};
    case ApiErrorKind::kNotFound:
      return {404, "not_found_error", "not_found_error"};
    case ApiErrorKind::kMethodNotAllowed:
      return {405, "invalid_request_error", "invalid_request_error"};
    case ApiErrorKind::kContextSize:
      return {400, "exceed_context_size_error", "invalid_request_error"};
    case ApiErrorKind::kRateLimit:
      return {429, "rate_limit_error", "rate_limit_error"};
    case ApiErrorKind::kUnavailable:
      return {503, "unavailable_error", "overloaded_error"};
    case ApiErrorKind::kNotSupported:
      return {501, "not_supported_error", "api_error"};
    case ApiErrorKind::kServer:
      return {500, "server_error", "api_error"};
  }
  return {500, "server_error", "api_error"};
}

ApiErrorKind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
      return ApiErrorKind::kInvalidRequest;
    case ErrorCode::kContextLength:
      return ApiErrorKind::kContextSize;
    case ErrorCode::kResourceExhausted:
      return ApiErrorKind::kRateLimit;
    case ErrorCode::kCancelled:
      return ApiErrorKind::kUnavailable;
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return ApiErrorKind::kServer;
  }
  return ApiErrorKind::kServer;
}

}  // namespace

ApiError invalid_field(std::string_view field, std::string message) {
  return {.message = std::string(field) + ": " + message, .param = std::string(field)};
}

ApiError from_error(const Error& error) {
  ApiError out{.kind = kind_of(error.code), .message = error.message};
  if (out.kind == ApiErrorKind::kRateLimit || out.kind == ApiErrorKind::kUnavailable)
    out.retry_after_seconds = 1;
  return out;
}

int http_status(ApiErrorKind kind) { return row_of(kind).status; }

Json error_body(const ApiError& error, ErrorStyle style) {
  const KindRow row = row_of(error.kind);
  if (style == ErrorStyle::kAnthropic)
    return {{"type", "error"}, {"error", {{"type", row.anthropic}, {"message", error.message}}}};
  Json body = {{"code", row.status},
               {"message", error.message},
               {"type", row.open_ai},
               {"param", error.param.empty() ? Json() : Json(error.param)}};
  for (const auto& [key, value] : error.extra.items()) body[key] = value;
  return {{"error", std::move(body)}};
}

HttpResponse error_response(const ApiError& error, ErrorStyle style) {
  HttpResponse response = json_response(error_body(error, style));
  response.status = http_status(error.kind);
  if (error.retry_after_seconds)
    response.headers.emplace_back("Retry-After", std::to_string(*error.retry_after_seconds));
  return response;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

HttpResponse json_response(const Json& json) { return {.body = dump(json)}; }

}  // namespace quire::server

// ApiError: a refusal in the terms of the HTTP APIs, and the one table from error codes to statuses.
//
// Plain data; pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/http/message.h"

namespace quire::server {

// Keeps keys in the order they were written, so that answers are stable.
using Json = nlohmann::ordered_json;

enum class ApiErrorKind : uint8_t {
  kInvalidRequest,
  kAuthentication,
  kNotFound,
  kMethodNotAllowed,
  kContextSize,
  kRateLimit,
  kUnavailable,
  kNotSupported,
  kServer,
};

struct ApiError {
  ApiErrorKind kind = ApiErrorKind::kInvalidRequest;
  std::string message = {};
  std::string param = {};                           // the request's field, where there is one
  std::optional<int64_t> retry_after_seconds = {};  // of kRateLimit and kUnavailable
  Json extra = {};                                  // further members of the error object
};

ApiError invalid_field(std::string_view field, std::string message);
ApiError from_error(const Error& error);

int http_status(ApiErrorKind kind);

// Which shape errors have.
enum class ErrorStyle : uint8_t { kOpenAi, kAnthropic };

Json error_body(const ApiError& error, ErrorStyle style);
HttpResponse error_response(const ApiError& error, ErrorStyle style);

// JSON text; invalid UTF-8 becomes U+FFFD.
std::string dump(const Json& json);
HttpResponse json_response(const Json& json);

}  // namespace quire::server

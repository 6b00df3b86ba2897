#include "server/http/head.h"

#include <fmt/format.h>

#include <algorithm>

namespace quire::server {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto at = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
  return at == headers.end() ? std::string_view() : std::string_view(at->second);
}

std::string response_head(const HttpResponse& response, const HeadOptions& options) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  };
  if (response.status != 204) add("Content-Type", response.content_type);
  if (!options.request_id.empty()) add("X-Request-Id", options.request_id);
  add("X-Content-Type-Options", "nosniff");
  if (!options.cors_origin.empty()) {
    add("Access-Control-Allow-Origin", options.cors_origin);
    add("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
  }
  for (const auto& [name, value] : response.headers) add(name, value);
  switch (options.framing) {
    case BodyFraming::kLength:
      if (response.status != 204) add("Content-Length", fmt::format("{}", response.body.size()));
      break;
    case BodyFraming::kChunked:
      add("Transfer-Encoding", "chunked");
      break;
    case BodyFraming::kUntilClose:
      break;
  }
  add("Connection", options.connection == Connection::kClose ? "close" : "keep-alive");
  head += "\r\n";
  return head;
}

void append_chunk(std::string& out, std::string_view bytes) {
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

HttpResponse preflight_response(std::string_view cors_origin) {
  if (cors_origin.empty()) return {.status = 403};
  return {.status = 204,
          .headers = {{"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
                      {"Access-Control-Allow-Headers", "*, Authorization"},
                      {"Access-Control-Max-Age", "86400"}}};
}

}  // namespace quire::server

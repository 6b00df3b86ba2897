// The text of HTTP/1.1 answers: status lines, headers, chunks. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "server/http/message.h"

namespace quire::server {

enum class Connection : uint8_t { kKeepAlive, kClose };
enum class BodyFraming : uint8_t { kLength, kChunked, kUntilClose };

struct HeadOptions {
  Connection connection = Connection::kKeepAlive;
  BodyFraming framing = BodyFraming::kLength;
  std::string_view request_id = {};
  std::string_view cors_origin = {};  // empty = no such header
};

// Status line and headers, up to and with the empty line.
std::string response_head(const HttpResponse& response, const HeadOptions& options);

// Appends `bytes`, not empty, as one chunk.
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// The answer to a preflight request of a browser; refuses when cors_origin is empty.
HttpResponse preflight_response(std::string_view cors_origin);

}  // namespace quire::server

#include "server/http/error_body.h"

#include <fmt/format.h>

namespace quire::server {

std::string plain_error_body(int status, std::string_view message) {
  return fmt::format(R"({{"error":{{"code":{},"message":"{}","type":"{}"}}}})", status, message,
                     status >= 500 ? "unavailable_error" : "invalid_request_error");
}

}  // namespace quire::server

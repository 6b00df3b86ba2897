// The body of an error answer that no handler of an API wrote. Pure function.
#pragma once

#include <string>
#include <string_view>

namespace quire::server {

// {"error":{"code":413,"message":"...","type":"invalid_request_error"}}. The message must be plain ASCII
// without quotes.
std::string plain_error_body(int status, std::string_view message);

}  // namespace quire::server

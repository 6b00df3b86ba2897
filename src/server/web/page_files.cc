#include "server/web/page_files.h"

#include <algorithm>
#include <string>

namespace quire::server {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

}  // namespace

std::optional<HttpResponse> page_response(std::string_view path) {
  if (!path.starts_with("/")) return {};
  const std::string_view name = path == "/" ? "index.html" : path.substr(1);
  const auto file = std::ranges::find(embedded_files(), name, &EmbeddedFile::name);
  if (file == embedded_files().end()) return {};
  return HttpResponse{.content_type = content_type_of(name),
                      .headers = {{"Content-Security-Policy", kPolicy},
                                  {"Referrer-Policy", "no-referrer"},
                                  {"Cache-Control", "no-cache"}},
                      .body = std::string(file->bytes)};
}

}  // namespace quire::server

// The page at "/": its files, embedded in the program, and how they are served. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "server/http/message.h"

namespace quire::server {

struct EmbeddedFile {
  std::string_view name;
  std::string_view bytes;
};

// Generated from src/server/web/page/ (cmake/EmbedFiles.cmake).
std::span<const EmbeddedFile> embedded_files();

// The file for a path ("/" is index.html), under a policy that lets the page load and ask nothing but this
// server; nothing when there is no such file.
std::optional<HttpResponse> page_response(std::string_view path);

}  // namespace quire::server

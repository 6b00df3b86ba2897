#include "server/http/request_id.h"

#include <fmt/format.h>

#include <algorithm>

namespace quire::server {
namespace {

constexpr size_t kMaxLength = 64;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
         c == '.';
}

}  // namespace

std::string RequestIds::choose(std::string_view asked) {
  if (!asked.empty() && asked.size() <= kMaxLength && std::ranges::all_of(asked, is_plain))
    return std::string(asked);
  return fmt::format("req-{:016x}{:016x}", random_(), random_());
}

}  // namespace quire::server

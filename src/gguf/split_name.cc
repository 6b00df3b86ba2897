#include "gguf/split_name.h"

#include <fmt/format.h>

namespace quire {

std::string split_part_path(std::string_view prefix, uint32_t index, uint32_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, index + 1, count);
}

std::optional<std::string> split_prefix(std::string_view path, uint32_t index, uint32_t count) {
  const std::string suffix = split_part_path("", index, count);
  if (path.size() <= suffix.size() || !path.ends_with(suffix)) return std::nullopt;
  return std::string(path.substr(0, path.size() - suffix.size()));
}

}  // namespace quire

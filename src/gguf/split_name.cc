#include "gguf/split_name.h"

#include <fmt/format.h>

#include <charconv>

namespace quire {

std::string split_part_path(std::string_view prefix, uint32_t index, uint32_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, index + 1, count);
}

std::optional<std::string> split_prefix(std::string_view path, uint32_t index, uint32_t count) {
  const std::string suffix = split_part_path("", index, count);
  if (path.size() <= suffix.size() || !path.ends_with(suffix)) return std::nullopt;
  return std::string(path.substr(0, path.size() - suffix.size()));
}

std::optional<SplitName> parse_split_name(std::string_view path) {
  constexpr size_t kSuffix = std::string_view("-00001-of-00002.gguf").size();
  if (path.size() <= kSuffix) return std::nullopt;
  const std::string_view suffix = path.substr(path.size() - kSuffix);
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    std::from_chars(suffix.data() + at, suffix.data() + at + 5, value);
    return value;
  };
  const uint32_t no = number(1);
  const uint32_t count = number(10);
  // Built again and compared, so that anything but this very form is refused.
  if (no == 0 || no > count) return std::nullopt;
  std::optional<std::string> prefix = split_prefix(path, no - 1, count);
  if (!prefix) return std::nullopt;
  return SplitName{.prefix = *std::move(prefix), .index = no - 1, .count = count};
}

}  // namespace quire

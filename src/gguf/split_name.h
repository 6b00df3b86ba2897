// Names of the parts of a split GGUF file: "<prefix>-00001-of-00003.gguf", counted from 1.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quire {

// Path of part `index` (from 0) of `count`.
std::string split_part_path(std::string_view prefix, uint32_t index, uint32_t count);

// The prefix of `path`, which is part `index` of `count`; nullopt when the name does not say so.
std::optional<std::string> split_prefix(std::string_view path, uint32_t index, uint32_t count);

struct SplitName {
  std::string prefix;
  uint32_t index = 0;  // from 0
  uint32_t count = 0;
};
// Takes a name of that form apart; nullopt when it has another one.
std::optional<SplitName> parse_split_name(std::string_view path);

}  // namespace quire

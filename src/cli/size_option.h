// add_size(): an option that takes an amount of memory.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "cli/size_text.h"

namespace quire::cli {

// Calls set(bytes) with what parse_size() makes of the argument; anything else is a usage error. Returns the
// option for further settings.
template <typename Set>
CLI::Option* add_size(CLI::App& app, const std::string& name, Set set, const std::string& about) {
  const auto parse = [name, set = std::move(set)](const std::string& text) {
    const Result<uint64_t> size = parse_size(text);
    if (!size.ok()) throw CLI::ValidationError(name, size.error().message);
    set(*size);
  };
  return app.add_option_function<std::string>(name, parse, about)->type_name("SIZE");
}

}  // namespace quire::cli

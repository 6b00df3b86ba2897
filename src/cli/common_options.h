// Options that every command has: --json, --quiet, --log-level.
#pragma once

#include "base/log.h"

namespace CLI {
class App;
}

namespace quire::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  LogLevel log_level = LogLevel::kInfo;
};

// Adds the options to `app`; `options` must outlive the parsing.
void add_common_options(CLI::App& app, CommonOptions& options);

}  // namespace quire::cli

#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include "cli/choice_option.h"

namespace quire::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  constexpr const char* kGroup = "Output";
  app.add_flag("--json", options.json, "Print results as JSON")->group(kGroup);
  app.add_flag("-q,--quiet", options.quiet, "No progress, only errors on standard error")->group(kGroup);
  add_choice<LogLevel>(app, "--log-level", options.log_level, "debug, info, warning or error (default: info)",
                       {{"debug", LogLevel::kDebug},
                        {"info", LogLevel::kInfo},
                        {"warning", LogLevel::kWarning},
                        {"error", LogLevel::kError}})
      ->type_name("LEVEL")
      ->group(kGroup);
}

}  // namespace quire::cli

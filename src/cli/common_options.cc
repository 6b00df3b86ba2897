#include "cli/common_options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace quire::cli {

void add_common_options(CLI::App& app, CommonOptions& options) {
  constexpr const char* kGroup = "Output";
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError}};
  app.add_flag("--json", options.json, "Print results as JSON")->group(kGroup);
  app.add_flag("-q,--quiet", options.quiet, "No progress, only errors on standard error")->group(kGroup);
  app.add_option("--log-level", options.log_level, "debug, info, warning or error (default: info)")
      ->transform(CLI::CheckedTransformer(kLevels, CLI::ignore_case).description(""))
      ->type_name("LEVEL")
      ->group(kGroup);
}

}  // namespace quire::cli

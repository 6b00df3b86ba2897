#include "cli/memory_options.h"

#include <CLI/CLI.hpp>

namespace quire::cli {

void add_memory_options(CLI::App& app, EngineSettings& settings) {
  constexpr const char* kGroup = "Memory";
  app.add_option("--parallel", settings.max_sequences, "Sequences that run side by side (default: 1)")
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--max-batch-tokens", settings.max_batch_tokens, "Tokens of one step (default: 512)")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N")
      ->group(kGroup);
}

}  // namespace quire::cli

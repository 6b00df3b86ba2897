// Options of every command whose memory depends on more than one sequence: --parallel, --max-batch-tokens,
// --prompt-rows, --answer-memory, and the sizes of the pools: --kv-pages, --kv-budget, --spill-pages,
// --cache-budget, --checkpoint-every and --checkpoint-budget.
#pragma once

#include "engine/settings.h"

namespace CLI {
class App;
}

namespace quire::cli {

// `settings` must outlive the parsing. Defaults are what it holds at the time of the call.
void add_memory_options(CLI::App& app, EngineSettings& settings);
// The pools alone.
void add_page_options(CLI::App& app, EngineSettings& settings);

}  // namespace quire::cli

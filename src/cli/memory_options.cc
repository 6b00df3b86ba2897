#include "cli/memory_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/quantity_text.h"
#include "cli/size_option.h"

namespace quire::cli {

void add_memory_options(CLI::App& app, EngineSettings& settings) {
  constexpr const char* kGroup = "Memory";
  app.add_option("--parallel", settings.max_sequences,
                 fmt::format("Sequences that run side by side (default: {})", settings.max_sequences))
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--max-batch-tokens", settings.max_batch_tokens,
                 fmt::format("Tokens of one step (default: {})", settings.max_batch_tokens))
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--prompt-rows", settings.prompt_rows,
                 fmt::format("Rows of logits for prompts that are read: embeddings, echo (default: {})",
                             settings.prompt_rows))
      ->check(CLI::Range(0, 65536).description(""))
      ->type_name("N")
      ->group(kGroup);
  add_size(
      app, "--answer-memory", [&settings](uint64_t size) { settings.answer_bytes = size; },
      fmt::format("Bytes that requests and their answers take at most (default: {})",
                  settings.answer_bytes == 0 ? "any" : format_size(settings.answer_bytes)))
      ->group(kGroup);
  add_page_options(app, settings);
}

void add_page_options(CLI::App& app, EngineSettings& settings) {
  constexpr const char* kGroup = "Memory";
  constexpr int64_t kMaxPages = int64_t{1} << 24;
  app.add_option("--kv-pages", settings.kv_pages,
                 "Pages of 16 tokens that all sequences share (default: enough for each to be full)")
      ->check(CLI::Range(int64_t{1}, kMaxPages).description(""))
      ->type_name("N")
      ->group(kGroup);
  add_size(
      app, "--kv-budget", [&settings](uint64_t size) { settings.kv_budget = size; },
      "Bytes that those pages take at most (default: any)")
      ->group(kGroup);
  app.add_option("--spill-pages", settings.spill_pages,
                 "Pages of the area where preempted sequences wait (default: none)")
      ->check(CLI::Range(int64_t{0}, kMaxPages).description(""))
      ->type_name("N")
      ->group(kGroup);
  add_size(
      app, "--cache-budget", [&settings](uint64_t size) { settings.cache_budget = size; },
      "Bytes of those pages that stay for later prompts once no sequence holds them (default: any)")
      ->group(kGroup);
  app.add_option("--checkpoint-every", settings.checkpoint_every,
                 fmt::format("Of models with states: tokens between places that later prompts can continue "
                             "from (default: {})",
                             settings.checkpoint_every))
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20).description(""))
      ->type_name("N")
      ->group(kGroup);
  add_size(
      app, "--checkpoint-budget", [&settings](uint64_t size) { settings.checkpoint_budget = size; },
      fmt::format("Bytes of those places at most (default: {} MiB)", settings.checkpoint_budget >> 20))
      ->group(kGroup);
}

}  // namespace quire::cli

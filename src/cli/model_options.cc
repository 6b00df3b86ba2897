#include "cli/model_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "cli/choice_option.h"

namespace quire::cli {

void add_model_options(CLI::App& app, ModelOptions& options) {
  constexpr const char* kGroup = "Model";
  EngineSettings& settings = options.settings;

  app.add_option("-m,--model", options.model, "Model file, or a name from `quire models`")
      ->required()
      ->type_name("MODEL")
      ->group(kGroup);
  app.add_option(
         "--ctx", settings.ctx,
         fmt::format("Longest sequence in tokens (default: the model's own, at most {})", kDefaultContext))
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--threads", settings.threads, "Threads to compute with (default: physical cores)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N")
      ->group(kGroup);
  add_choice<std::string>(app, "--isa", settings.isa, "auto, amx, avx512vnni, avx512, avx2 or scalar",
                          {{"auto", "auto"},
                           {"amx", "amx"},
                           {"avx512vnni", "avx512vnni"},
                           {"avx512", "avx512"},
                           {"avx2", "avx2"},
                           {"scalar", "scalar"}})
      ->type_name("NAME")
      ->group(kGroup);
  add_choice<graph::KvType>(
      app, "--kv-type", settings.kv_type, "Type of stored keys and values: f16, bf16 or f32",
      {{"f16", graph::KvType::kF16}, {"bf16", graph::KvType::kBF16}, {"f32", graph::KvType::kF32}})
      ->type_name("TYPE")
      ->group(kGroup);
  add_choice<graph::ActivationSetting>(
      app, "--activations", settings.activations, "What quantised weights are multiplied with: int8 or f32",
      {{"int8", graph::ActivationSetting::kInt8}, {"f32", graph::ActivationSetting::kF32}})
      ->type_name("TYPE")
      ->group(kGroup);
  app.add_option("--off", settings.off, "Switch an optimisation off (repeatable)")
      ->expected(1)
      ->take_all()
      ->type_name("NAME")
      ->group(kGroup);
}

}  // namespace quire::cli

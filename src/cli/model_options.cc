#include "cli/model_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <map>

namespace quire::cli {

void add_model_options(CLI::App& app, ModelOptions& options) {
  constexpr const char* kGroup = "Model";
  static const std::map<std::string, graph::KvType> kKvTypes = {
      {"f16", graph::KvType::kF16}, {"bf16", graph::KvType::kBF16}, {"f32", graph::KvType::kF32}};
  static const std::map<std::string, graph::ActivationSetting> kActivations = {
      {"int8", graph::ActivationSetting::kInt8}, {"f32", graph::ActivationSetting::kF32}};
  EngineSettings& settings = options.settings;

  app.add_option("-m,--model", options.model, "Model file, or a name from `quire models`")
      ->required()
      ->type_name("MODEL")
      ->group(kGroup);
  app.add_option("--ctx", settings.ctx, "Longest sequence in tokens (default: the model's own)")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--threads", settings.threads, "Threads to compute with (default: physical cores)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--isa", settings.isa, "auto, avx512vnni, avx512, avx2 or scalar")
      ->check(CLI::IsMember({"auto", "avx512vnni", "avx512", "avx2", "scalar"}).description(""))
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--kv-type", settings.kv_type, "Type of stored keys and values: f16, bf16 or f32")
      ->transform(CLI::CheckedTransformer(kKvTypes).description(""))
      ->type_name("TYPE")
      ->group(kGroup);
  app.add_option("--activations", settings.activations,
                 "What quantised weights are multiplied with: int8 or f32")
      ->transform(CLI::CheckedTransformer(kActivations).description(""))
      ->type_name("TYPE")
      ->group(kGroup);
  app.add_option("--off", settings.off, "Switch an optimisation off (repeatable)")
      ->expected(1)
      ->take_all()
      ->type_name("NAME")
      ->group(kGroup);
}

}  // namespace quire::cli

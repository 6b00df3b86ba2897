#include "cli/chat/run_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <random>

namespace quire::cli {
namespace {

void add_sampling_options(CLI::App& app, RunOptions& options) {
  constexpr const char* kGroup = "Sampling (default: what the model file suggests, else as shown)";
  constexpr float kMax = std::numeric_limits<float>::max();
  const auto add = [&](const char* name, std::optional<float>& target, const char* about, float low,
                       float high) {
    app.add_option(name, target, about)
        ->check(CLI::Range(low, high).description(""))
        ->type_name("X")
        ->group(kGroup);
  };
  const auto add_penalty = [&](const char* name, std::optional<float>& target, const char* about) {
    add(name, target, about, -kMax, kMax);
  };
  add("--temp", options.temperature, "Temperature; 0 always takes the likeliest token (0.8)", 0.0f, kMax);
  app.add_option("--top-k", options.top_k, "Choose among the K likeliest tokens; 0 is off (40)")
      ->check(CLI::Range(0, std::numeric_limits<int32_t>::max()).description(""))
      ->type_name("K")
      ->group(kGroup);
  add("--top-p", options.top_p, "Choose among the likeliest with this probability in sum (0.95)", 0.0f, 1.0f);
  add("--min-p", options.min_p, "Least probability, times that of the likeliest (0.05)", 0.0f, 1.0f);
  add("--typical", options.typical_p, "Locally typical sampling; 1 is off (1)", 0.0f, 1.0f);
  add("--repeat-penalty", options.repetition_penalty, "Penalty on the last 64 tokens; 1 is off (1)",
      std::numeric_limits<float>::min(), kMax);
  add_penalty("--frequency-penalty", options.frequency_penalty, "Penalty for each time a token was used (0)");
  add_penalty("--presence-penalty", options.presence_penalty, "Penalty for having been used at all (0)");
  app.add_option("--seed", options.seed, "The same seed gives the same text (random)")
      ->type_name("S")
      ->group(kGroup);
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  constexpr const char* kGroup = "Answer";
  app.add_option("-p,--prompt", options.prompt, "Answer this and exit; - reads standard input")
      ->type_name("TEXT")
      ->group(kGroup);
  app.add_option("--system", options.system, "System message")->type_name("TEXT")->group(kGroup);
  app.add_flag_callback(
         "--raw", [&options] { options.form = PromptForm::kRaw; }, "Continue the prompt, without a template")
      ->group(kGroup);
  app.add_option("-n", options.max_tokens, "At most N tokens (default: to the end of the context)")
      ->check(CLI::Range(int64_t{-1}, std::numeric_limits<int64_t>::max()).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--stop", options.stop, "End the answer before this text (repeatable)")
      ->expected(1)
      ->take_all()
      ->type_name("TEXT")
      ->group(kGroup);
  app.add_flag_callback(
         "--ignore-eos", [&options] { options.end_tokens = EndTokens::kIgnore; },
         "Go on after end tokens, for measurements")
      ->group(kGroup);
  add_sampling_options(app, options);
}

Result<GenerationSettings> generation_settings(const RunOptions& options, const Metadata& metadata) {
  GenerationSettings settings;
  QUIRE_ASSIGN_OR_RETURN(settings.sampling, suggested_sampling(metadata));
  SamplingSettings& sampling = settings.sampling;
  sampling.temperature = options.temperature.value_or(sampling.temperature);
  sampling.top_k = options.top_k.value_or(sampling.top_k);
  sampling.top_p = options.top_p.value_or(sampling.top_p);
  sampling.min_p = options.min_p.value_or(sampling.min_p);
  sampling.typical_p = options.typical_p.value_or(sampling.typical_p);
  sampling.repetition_penalty = options.repetition_penalty.value_or(sampling.repetition_penalty);
  sampling.frequency_penalty = options.frequency_penalty.value_or(sampling.frequency_penalty);
  sampling.presence_penalty = options.presence_penalty.value_or(sampling.presence_penalty);
  // 32 random bits: a seed that people can retype.
  settings.seed = options.seed ? *options.seed : uint64_t{std::random_device{}()};
  settings.max_tokens = options.max_tokens;
  settings.stop = options.stop;
  settings.end_tokens = options.end_tokens;
  return settings;
}

}  // namespace quire::cli

// quire run: a chat in the terminal, or one answer.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/chat/interrupt.h"
#include "cli/chat/loaded_model.h"
#include "cli/chat/one_shot.h"
#include "cli/chat/run_chat.h"
#include "cli/chat/run_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_folder.h"
#include "cli/model_loading.h"
#include "cli/model_options.h"
#include "cli/standard_input.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxPromptBytes = size_t{256} << 20;

Result<LoadedModel> load_model(Console& console, const std::string& path, const EngineSettings& settings,
                               const InterruptGuard& interrupt) {
  LoadedModel model;
  QUIRE_ASSIGN_OR_RETURN(model.runner, load_runner(console, path, settings, interrupt));
  const Metadata& metadata = model.runner->model().file().metadata();
  QUIRE_ASSIGN_OR_RETURN(model.tokenizer, Tokenizer::load(metadata, console.log()));
  QUIRE_ASSIGN_OR_RETURN(model.generation, Generation::create(*model.runner, *model.tokenizer));
  return model;
}

class RunCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "run",
            .summary = "Chat with a model, or answer one prompt",
            .example =
                "  quire run -m smollm2-135m-q4_1\n"
                "  quire run -m model.gguf -p \"What is the capital of France?\" --temp 0"};
  }

  void add_options(CLI::App& app) override {
    add_run_options(app, options_);
    add_model_options(app, model_);
  }

  Result<ExitCode> run(Console& console) override {
    const bool interactive = !options_.prompt && ::isatty(STDIN_FILENO) == 1;
    if (interactive && (console.json() || options_.form == PromptForm::kRaw)) {
      log(console.log(), LogLevel::kError, "--json and --raw need a prompt: -p TEXT, or standard input");
      return ExitCode::kUsage;
    }
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    std::string prompt = options_.prompt.value_or("-");
    if (!interactive && prompt == "-") {
      QUIRE_ASSIGN_OR_RETURN(prompt, read_standard_input(kMaxPromptBytes));
    }
    InterruptGuard interrupt;
    QUIRE_ASSIGN_OR_RETURN(LoadedModel model, load_model(console, path, model_.settings, interrupt));
    QUIRE_ASSIGN_OR_RETURN(const GenerationSettings settings,
                           generation_settings(options_, model.runner->model().file().metadata()));
    if (interactive) return run_chat(console, model, options_.system, settings, interrupt);
    return answer_once(console, model, options_, settings, prompt, interrupt);
  }

 private:
  RunOptions options_;
  ModelOptions model_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace quire::cli

// quire serve: the HTTP server.
#include <CLI/CLI.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/memory_options.h"
#include "cli/model_folder.h"
#include "cli/model_options.h"
#include "cli/output_file.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "cli/serve_options.h"
#include "engine/memory_fit.h"
#include "measure/available_memory.h"

namespace quire::cli {
namespace {

constexpr int32_t kDefaultSequences = 8;
constexpr int64_t kDefaultPromptRows = 64;
constexpr uint64_t kDefaultAnswerBytes = 64'000'000;

class ServeCommand final : public Command {
 public:
  ServeCommand() {
    model_.settings.max_sequences = kDefaultSequences;
    model_.settings.prompt_rows = kDefaultPromptRows;
    model_.settings.answer_bytes = kDefaultAnswerBytes;
  }

  CommandInfo info() const override {
    return {.name = "serve",
            .summary = "Serve a model over HTTP, in OpenAI's and other styles",
            .example =
                "  quire serve -m smollm2-135m-q4_1 --port 8080 --parallel 16\n"
                "  curl localhost:8080/v1/chat/completions --json "
                "'{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}'"};
  }

  void add_options(CLI::App& app) override {
    add_serve_options(app, options_);
    add_memory_options(app, model_.settings);
    add_model_options(app, model_);
    parallel_ = app.get_option("--parallel");
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    if (!options_.server.trace.empty()) {
      QUIRE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
      QUIRE_RETURN_IF_ERROR(check_output(options_.server.trace, input_paths(file)));
    }
    QUIRE_ASSIGN_OR_RETURN(const EngineSettings settings, choose_settings(path));
    QUIRE_ASSIGN_OR_RETURN(const MemoryPlan plan, Runner::plan(path, settings));
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<server::Server> server,
                           server::Server::create(options_.server, console.log()));
    console.write(plan_text(plan));
    QUIRE_RETURN_IF_ERROR(console.flush());

    const auto load = [&](const std::function<bool()>& keep_going) {
      std::optional<ProgressBar> bar;  // from the first report on, which knows the total
      return Runner::load(path, settings, [&](size_t done, size_t total) {
        if (!bar) bar.emplace(console.draws_progress(), "Loading", total);
        bar->update(done);
        return keep_going();
      });
    };
    Status printed;
    QUIRE_RETURN_IF_ERROR(server->run(load, [&](uint16_t port) {
      const server::EdgeOptions& edge = options_.server.edge;
      console.print("ready: {}://{}:{}\n", edge.tls_certificate.empty() ? "http" : "https", edge.host, port);
      printed = console.flush();
    }));
    QUIRE_RETURN_IF_ERROR(printed);
    return ExitCode::kDone;
  }

 private:
  Result<EngineSettings> choose_settings(const std::string& path) {
    EngineSettings settings = model_.settings;
    settings.max_batch_tokens = std::max<int64_t>(settings.max_batch_tokens, settings.max_sequences);
    if (options_.fit) {
      QUIRE_ASSIGN_OR_RETURN(const size_t available, available_memory());
      const FitParallel parallel = parallel_->count() > 0 ? FitParallel::kKeep : FitParallel::kChoose;
      QUIRE_ASSIGN_OR_RETURN(const MemoryFit fit, fit_to_memory(path, settings, available, parallel));
      settings = fit.settings;
    }
    return settings;
  }

  ServeOptions options_;
  ModelOptions model_;
  CLI::Option* parallel_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace quire::cli

// quire models: what is in the model folder, and what the program can run.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/gguf_summary.h"
#include "cli/model_folder.h"
#include "gguf/gguf_file.h"
#include "gguf/printable.h"
#include "models/architecture.h"

namespace quire::cli {
namespace {

class ModelsCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "models",
            .summary = "List the models in the model folder (~/.cache/quire/models)",
            .example = "  quire models\n  quire models --architectures"};
  }

  void add_options(CLI::App& app) override {
    app.add_flag("--architectures", architectures_,
                 "List the model architectures this program can run instead");
  }

  Result<ExitCode> run(Console& console) override {
    if (architectures_) return list_architectures(console);
    QUIRE_ASSIGN_OR_RETURN(const std::string folder, model_folder());
    Json models = Json::array();
    std::vector<std::vector<std::string>> rows = {{"name", "architecture", "parameters", "size", "type"}};
    for (const ModelEntry& entry : list_models(folder)) {
      const Result<GgufFile> file = GgufFile::open(entry.path);
      if (!file.ok()) {
        log(console.log(), LogLevel::kWarning, "{}", printable(file.error().message, 1000));
        continue;
      }
      const GgufSummary summary = summarize(*file);
      models.push_back({{"name", entry.name},
                        {"architecture", summary.architecture},
                        {"parameters", summary.parameters},
                        {"bytes", entry.bytes},
                        {"type", summary.type},
                        {"path", entry.path}});
      rows.push_back({printable(entry.name), printable(summary.architecture),
                      format_count(summary.parameters), format_size(entry.bytes), summary.type});
    }
    if (console.json()) {
      console.print_json({{"folder", folder}, {"models", std::move(models)}});
    } else if (rows.size() > 1) {
      console.write(format_table(rows, "llrrl"));
    } else {
      log(console.log(), LogLevel::kInfo, "no models in {}", printable(folder, 1000));
    }
    return ExitCode::kDone;
  }

 private:
  static ExitCode list_architectures(Console& console) {
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows;
    for (const Architecture& architecture : architectures()) {
      list.push_back({{"name", architecture.name}, {"about", architecture.about}});
      rows.push_back({std::string(architecture.name), std::string(architecture.about)});
    }
    if (console.json()) {
      console.print_json({{"architectures", std::move(list)}});
    } else {
      console.write(format_table(rows, "ll"));
    }
    return ExitCode::kDone;
  }

  bool architectures_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace quire::cli

// quire models: what is in the model folder.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/gguf_summary.h"
#include "cli/model_folder.h"
#include "gguf/gguf_file.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

class ModelsCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "models",
            .summary = "List the models in the model folder (~/.cache/quire/models)",
            .example = "  quire models\n  QUIRE_HOME=/data/quire quire models --json"};
  }

  void add_options(CLI::App&) override {}

  Result<ExitCode> run(Console& console) override {
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
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace quire::cli

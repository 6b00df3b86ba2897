// quire plan: the memory that running a model would take, without taking it.
#include <CLI/CLI.hpp>
#include <optional>

#include "base/quantity_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/memory_options.h"
#include "cli/model_folder.h"
#include "cli/model_options.h"
#include "cli/plan_text.h"
#include "cli/size_option.h"
#include "engine/memory_fit.h"
#include "engine/runner.h"
#include "gguf/printable.h"
#include "measure/available_memory.h"

namespace quire::cli {
namespace {

Json plan_json(const MemoryPlan& plan) {
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows)
    rows.push_back({{"kind", row.kind}, {"place", row.place}, {"bytes", row.bytes}, {"detail", row.detail}});
  return {{"total_bytes", plan.total_bytes()},
          {"rows", std::move(rows)},
          {"max_sequences", plan.max_sequences},
          {"max_context", plan.max_context}};
}

class PlanCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "plan",
            .summary = "Show the memory that running a model takes",
            .example =
                "  quire plan -m smollm2-135m-q4_1 --ctx 4096 --parallel 8\n"
                "  quire plan -m model.gguf --budget 4GB --fit"};
  }

  void add_options(CLI::App& app) override {
    add_size(
        app, "--budget", [this](uint64_t size) { budget_ = size; },
        "Fail (exit code 3) when the total is over this")
        ->group("Memory");
    app.add_flag("--fit", fit_,
                 "Choose context and sequences for the budget (default: for the available memory)")
        ->group("Memory");
    add_memory_options(app, model_.settings);
    add_model_options(app, model_);
    parallel_ = app.get_option("--parallel");
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    if (fit_) return run_fit(console, path);
    QUIRE_ASSIGN_OR_RETURN(const MemoryPlan plan, Runner::plan(path, model_.settings));
    if (console.json()) {
      console.print_json(plan_json(plan));
    } else {
      console.write(plan_text(plan));
    }
    if (budget_) QUIRE_RETURN_IF_ERROR(check_budget(path, model_.settings, plan, *budget_));
    return ExitCode::kDone;
  }

 private:
  Result<ExitCode> run_fit(Console& console, const std::string& path) {
    std::string origin;
    if (!budget_) {
      QUIRE_ASSIGN_OR_RETURN(budget_, available_memory());
      origin = " (the memory available now)";
    }
    const FitParallel parallel = parallel_->count() > 0 ? FitParallel::kKeep : FitParallel::kChoose;
    QUIRE_ASSIGN_OR_RETURN(const MemoryFit fit, fit_to_memory(path, model_.settings, *budget_, parallel));
    const char* kv_type = graph::kv_type_name(fit.settings.kv_type);
    const std::string options = fmt::format("--ctx {} --parallel {} --kv-type {}", fit.plan.max_context,
                                            fit.plan.max_sequences, kv_type);
    if (console.json()) {
      Json out = plan_json(fit.plan);
      out["budget"] = *budget_;
      out["fit"] = {{"ctx", fit.plan.max_context},
                    {"parallel", fit.plan.max_sequences},
                    {"kv_type", kv_type},
                    {"reason", fit.reason}};
      console.print_json(out);
    } else {
      console.write(plan_text(fit.plan));
      console.print("\nFor {}{}: {}\n{}\n", format_size(*budget_), origin, options, fit.reason);
    }
    return ExitCode::kDone;
  }

  ModelOptions model_;
  std::optional<uint64_t> budget_;
  bool fit_ = false;
  CLI::Option* parallel_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace quire::cli

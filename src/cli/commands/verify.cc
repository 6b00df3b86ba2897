// quire verify: the same sequences in every way there is, and whether their logits have the same bits.
#include "engine/verify/verification.h"

#include <CLI/CLI.hpp>

#include "cli/chat/interrupt.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/model_folder.h"
#include "cli/model_options.h"
#include "engine/model.h"

namespace quire::cli {
namespace {

class VerifyCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "verify",
            .summary = "Check that results do not depend on how they are computed",
            .example =
                "  quire verify -m smollm2-135m-q4_1\n"
                "  quire verify -m model.gguf --full"};
  }

  void add_options(CLI::App& app) override {
    add_model_options(app, model_);
    app.add_flag("--full", full_, "Every way, longer and with more sequences");
    app.add_flag("--list", list_, "Only name the optimisations that --off can switch off");
    app.get_option("--model")->required(false);
    app.remove_option(app.get_option("--ctx"));  // the ways have lengths of their own
    app.callback([this] {
      if (!list_ && model_.model.empty()) throw CLI::RequiredError("--model");
    });
  }

  Result<ExitCode> run(Console& console) override {
    if (list_) return list(console);
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    InterruptGuard interrupt;
    if (!console.json())
      console.print("{:<34} {:>9} {:>7}  {:<24} {:<16}  {}\n", "way", "compared", "count", "of", "hash",
                    "verdict");
    QUIRE_ASSIGN_OR_RETURN(const verify::VerifySummary summary,
                           verify::run_verification(path, model_.settings,
                                                    full_ ? verify::Extent::kFull : verify::Extent::kQuick,
                                                    [&](const verify::VerifyRow& row) {
                                                      print(console, row);
                                                      return !interrupt.interrupted();
                                                    }));
    if (!console.json()) {
      console.print("{} ways, {}\n", summary.rows,
                    summary.failed == 0 ? "all equal" : fmt::format("{} failed", summary.failed));
    }
    return summary.failed == 0 ? ExitCode::kDone : ExitCode::kDifference;
  }

 private:
  static ExitCode list(Console& console) {
    for (const OptimisationInfo& info : optimisation_list()) {
      if (console.json()) {
        console.print_json({{"name", info.name}, {"about", info.about}});
      } else {
        console.print("{:<16} {}\n", info.name, info.about);
      }
    }
    return ExitCode::kDone;
  }

  static void print(Console& console, const verify::VerifyRow& row) {
    const std::string hash = fmt::format("{:016x}", row.hash);
    const char* verdict = verify::verdict_name(row.verdict);
    if (console.json()) {
      console.print_json({{"way", row.way},
                          {"compared", row.compared},
                          {"different", row.different},
                          {"counter", row.counter},
                          {"count", row.count},
                          {"hash", hash},
                          {"verdict", verdict}});
    } else {
      console.print(
          "{:<34} {:>9} {:>7}  {:<24} {}  {}\n", row.way, row.compared, row.count, row.counter, hash,
          row.verdict == verify::Verdict::kDifferent ? fmt::format("{} ({} of them)", verdict, row.different)
                                                     : std::string(verdict));
    }
    (void)console.flush();
  }

  ModelOptions model_;
  bool full_ = false;
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace quire::cli

// quire bench: how fast a model reads prompts and writes answers on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/bench_report.h"
#include "cli/chat/interrupt.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/memory_options.h"
#include "cli/model_folder.h"
#include "cli/model_loading.h"
#include "cli/model_options.h"
#include "engine/bench_run.h"
#include "measure/machine_limits.h"

namespace quire::cli {
namespace {

constexpr int64_t kMaxTokens = 1 << 20;
// Room for streams to decode in while prompts are computed.
constexpr int64_t kStreamAnswer = 1024;

class BenchCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "bench",
            .summary = "Measure the speed of prompts and answers",
            .example =
                "  quire bench -m smollm2-135m-q4_1 -p 512 -n 128 --limits\n"
                "  quire bench -m model.gguf --batch 1,8,32 --prompt 1056 --gen 32 --shared-prefix 1024"};
  }

  void add_options(CLI::App& app) override {
    const auto tokens = CLI::Range(int64_t{0}, kMaxTokens).description("");
    app.add_option("-p,--prompt", prompt_, "Tokens of each prompt, 0 for none (default: 512)")
        ->check(tokens)
        ->type_name("N");
    app.add_option("-n,--gen", gen_, "Tokens generated after, 0 for none (default: 128)")
        ->check(tokens)
        ->type_name("N");
    app.add_option("-d,--depth", depth_, "Tokens that each sequence holds before (default: 0)")
        ->check(tokens)
        ->type_name("N");
    app.add_option("-r,--reps", repetitions_, "Repetitions; the median counts (default: 5)")
        ->check(CLI::Range(1, 1000).description(""))
        ->type_name("N");
    app.add_option("--batch", batches_, "Numbers of sequences side by side (default: 1)")
        ->check(CLI::Range(1, 4096).description(""))
        ->delimiter(',')
        ->type_name("N,N,...");
    app.add_option("--max-batch-tokens", model_.settings.max_batch_tokens,
                   "Tokens of one step (default: 512)")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->type_name("N");
    app.add_flag("--served", served_, "Through the engine, as requests that arrive together");
    app.add_option("--shared-prefix", shared_,
                   "First tokens that all prompts have in common; implies --served")
        ->check(tokens)
        ->type_name("N");
    app.add_option("--streams", streams_,
                   "Sequences that decode while the prompts arrive; implies --served (default: none)")
        ->check(CLI::Range(0, 4096).description(""))
        ->type_name("N");
    app.add_flag("--limits", limits_, "Measure this machine too, and how much of it was reached");
    app.add_flag("--profile", profile_, "Time every kind of operation");
    add_page_options(app, model_.settings);
    add_model_options(app, model_);
    app.callback([this] {
      if (prompt_ == 0 && gen_ == 0)
        throw CLI::ValidationError("--prompt and --gen", "both are 0, so that nothing is to be measured");
      served_ = served_ || shared_ > 0 || streams_ > 0;
      if (served_ && (prompt_ == 0 || gen_ == 0))
        throw CLI::ValidationError("--served", "a request has a prompt and an answer of at least one token");
      if (shared_ > prompt_) throw CLI::ValidationError("--shared-prefix", "is longer than the prompts");
    });
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(model_.model));
    InterruptGuard interrupt;
    QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Runner> runner, load_runner(console, path, settings(), interrupt));
    std::optional<MachineLimits> limits;
    if (limits_) {
      QUIRE_ASSIGN_OR_RETURN(const Isa isa, choose_isa(runner->device().isa()));
      QUIRE_ASSIGN_OR_RETURN(limits, measure_limits(runner->device().pool(), isa));
    }
    BenchReport report(console, limits);
    report.begin(*runner);
    if (served_) return run_served(std::move(runner), report, interrupt);
    QUIRE_ASSIGN_OR_RETURN(SpeedBench bench, SpeedBench::create(*runner));
    const auto keep_going = [&] { return !interrupt.interrupted(); };
    for (const SpeedTest& test : tests()) {
      QUIRE_ASSIGN_OR_RETURN(const SpeedResult result, bench.run(test, repetitions_, keep_going));
      report.row(test, result);
      if (!profile_) continue;
      QUIRE_ASSIGN_OR_RETURN(const std::vector<ProfileRow> rows, bench.profile(test, keep_going));
      report.profile(test, rows);
    }
    return ExitCode::kDone;
  }

 private:
  // Of the repetitions the one with the median time counts.
  Result<ExitCode> run_served(std::unique_ptr<Runner> runner, BenchReport& report,
                              const InterruptGuard& interrupt) {
    QUIRE_ASSIGN_OR_RETURN(ServedBench bench, ServedBench::create(std::move(runner)));
    if (streams_ > 0) {
      for (const int32_t batch : batches_) {
        const MixedTest test = {.n_streams = streams_, .n_prompts = batch, .n_prompt = prompt_};
        QUIRE_ASSIGN_OR_RETURN(const MixedResult result, bench.run_mixed(test));
        report.mixed(test, result);
      }
      return ExitCode::kDone;
    }
    for (const int32_t batch : batches_) {
      for (const PrefixSharing sharing : {PrefixSharing::kOn, PrefixSharing::kOff}) {
        if (shared_ == 0 && sharing == PrefixSharing::kOff) continue;
        const ServedTest test = {
            .batch = batch, .n_prompt = prompt_, .n_shared = shared_, .n_answer = gen_, .sharing = sharing};
        std::vector<ServedResult> results;
        for (int i = 0; i < repetitions_; ++i) {
          if (interrupt.interrupted())
            return make_error(ErrorCode::kCancelled, "the measurement was interrupted");
          QUIRE_ASSIGN_OR_RETURN(const ServedResult result, bench.run(test));
          results.push_back(result);
        }
        std::ranges::sort(results, {}, &ServedResult::total_seconds);
        report.served(test, results[results.size() / 2]);
      }
    }
    return ExitCode::kDone;
  }

  EngineSettings settings() const {
    EngineSettings settings = model_.settings;
    if (settings.ctx == 0) settings.ctx = depth_ + (served_ ? prompt_ + gen_ : std::max(prompt_, gen_));
    if (streams_ > 0) settings.ctx = std::max(settings.ctx, MixedTest::kStreamPrompt + kStreamAnswer);
    settings.max_sequences = *std::max_element(batches_.begin(), batches_.end()) + streams_;
    settings.max_batch_tokens = std::max<int64_t>(settings.max_batch_tokens, settings.max_sequences);
    return settings;
  }

  std::vector<SpeedTest> tests() const {
    std::vector<SpeedTest> tests;
    for (int32_t batch : batches_) {
      if (prompt_ > 0)
        tests.push_back(
            {.kind = SpeedTestKind::kPrefill, .n_tokens = prompt_, .depth = depth_, .batch = batch});
      if (gen_ > 0)
        tests.push_back({.kind = SpeedTestKind::kDecode, .n_tokens = gen_, .depth = depth_, .batch = batch});
    }
    return tests;
  }

  ModelOptions model_;
  int64_t prompt_ = 512;
  int64_t gen_ = 128;
  int64_t depth_ = 0;
  int repetitions_ = 5;
  std::vector<int32_t> batches_ = {1};
  int64_t shared_ = 0;
  int32_t streams_ = 0;
  bool served_ = false;
  bool limits_ = false;
  bool profile_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace quire::cli

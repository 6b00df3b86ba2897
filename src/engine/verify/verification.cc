#include "engine/verify/verification.h"

#include <algorithm>
#include <functional>

#include "engine/verify/direct_ways.h"
#include "engine/verify/served_ways.h"
#include "engine/verify/way.h"

namespace quire::verify {
namespace {

// One verification under way.
class Run {
 public:
  Run(const std::string& path, const EngineSettings& settings, Extent extent, OnRow on_row)
      : path_(path), extent_(extent), on_row_(on_row), settings_(settings) {
    settings_.ctx = kContext;
    settings_.max_sequences = kMaxSequences;
    settings_.max_batch_tokens = kMaxStepTokens;
    settings_.max_outputs = 128;
    settings_.kv_pages = 256;
  }

  Result<VerifySummary> run() {
    QUIRE_RETURN_IF_ERROR(direct());
    QUIRE_RETURN_IF_ERROR(served());
    QUIRE_RETURN_IF_ERROR(threads());
    QUIRE_RETURN_IF_ERROR(isas());
    QUIRE_RETURN_IF_ERROR(optimisations());
    return summary_;
  }

 private:
  bool full() const { return extent_ == Extent::kFull; }

  Status report(const Way& way, const Result<WayResult>& result) {
    if (!result.ok()) {
      Error error = result.error();
      error.message = way.name + ": " + error.message;
      return error;
    }
    VerifyRow row{.way = way.name, .counter = way.counter, .count = result->count};
    Comparison all;
    for (size_t i = 0; i < result->traces.size(); ++i) all += compare(cases_[i].reference, result->traces[i]);
    row.compared = all.compared;
    row.different = all.different;
    row.hash = digest(result->traces);
    row.verdict = all.different > 0                     ? Verdict::kDifferent
                  : row.count == 0 || row.compared == 0 ? Verdict::kNotTaken
                                                        : Verdict::kEqual;
    ++summary_.rows;
    summary_.failed += row.verdict == Verdict::kEqual ? 0 : 1;
    if (!on_row_(row)) return make_error(ErrorCode::kCancelled, "the verification was interrupted");
    return {};
  }

  Status direct() {
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner, load(path_, settings_));
    cases_ = make_cases(extent_, runner->model().n_vocab());
    QUIRE_RETURN_IF_ERROR(make_references(*runner, cases_));
    for (const OptimisationInfo& info : optimisation_list())
      uses_.push_back({info.name, runner->model().n_uses(info.name)});
    n_threads_ = runner->device().n_threads();
    isa_ = runner->device().isa();
    has_pages_ = runner->memory_module().n_groups() > 0;
    const bool has_states = runner->memory_module().states() != nullptr;
    DirectWays ways(*runner, cases_);

    for (const int size : {1, 7, 64, 512}) {
      const std::string name =
          size == 512 ? "prompt and answer in one step" : fmt::format("steps of {}", size);
      QUIRE_RETURN_IF_ERROR(report({name, "steps"}, ways.chunks(static_cast<size_t>(size))));
    }
    for (const int n : {2, 7, 32, 64}) {
      if (!full() && n == 64) continue;
      QUIRE_RETURN_IF_ERROR(
          report({fmt::format("batch of {} with strangers", n), "strangers' tokens"}, ways.batch(n)));
    }
    using Order = DirectWays::PageOrder;
    if (has_pages_) {
      QUIRE_RETURN_IF_ERROR(report({"pages in order", "neighbours"}, ways.pages(Order::kAscending)));
      QUIRE_RETURN_IF_ERROR(report({"pages reversed", "pages apart"}, ways.pages(Order::kReversed)));
      QUIRE_RETURN_IF_ERROR(report({"pages at random", "pages apart"}, ways.pages(Order::kRandom)));
      QUIRE_RETURN_IF_ERROR(report({"pages scattered", "pages apart"}, ways.pages(Order::kScattered)));
    }
    if (has_prefix_cache()) {
      QUIRE_RETURN_IF_ERROR(report({"prefix found in memory", "positions shared"}, ways.warm_prefix()));
      // States are left at the ends of pages only.
      if (!has_states)
        QUIRE_RETURN_IF_ERROR(report({"prefix ending within a page", "pages copied"}, ways.partial_page()));
    }
    QUIRE_RETURN_IF_ERROR(report({"fork", has_states ? "states copied" : "pages copied"}, ways.fork()));
    if (!is_off("head-argmax") && runner->model().n_uses("head-argmax") > 0)
      QUIRE_RETURN_IF_ERROR(report({"largest logit of each row", "rows"}, ways.argmax()));
    return report({"too far and back", "positions taken back"}, ways.truncate());
  }

  Status served() {
    EngineSettings settings = settings_;
    settings.max_sequences = 8;
    settings.max_batch_tokens = 48;
    settings.max_outputs = 0;
    const auto way = [&](const Way& named, auto run_way) -> Status {
      QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Runner> runner, load(path_, settings));
      return report(named, run_way(std::move(runner), std::span<const Case>(cases_)));
    };
    QUIRE_RETURN_IF_ERROR(way({"served among strangers", "rows in company"}, served_among_strangers));
    if (has_prefix_cache()) {
      QUIRE_RETURN_IF_ERROR(way({"prefix computed once for a burst", "requests that waited"}, served_burst));
    }
    if (!has_pages_) return {};  // nothing runs out, so nobody is preempted
    settings.max_sequences = 4;
    settings.kv_pages = pages_for_preemption();
    const auto preempted = [](Preemption preemption) {
      return [preemption](std::unique_ptr<Runner> runner, std::span<const Case> cases) {
        return served_preempted(std::move(runner), cases, preemption);
      };
    };
    QUIRE_RETURN_IF_ERROR(
        way({"preempted and computed again", "preemptions"}, preempted(Preemption::kRecompute)));
    if (is_off("spill")) return {};
    settings.spill_pages = settings.kv_pages;
    return way({"spilled and brought back", "returns"}, preempted(Preemption::kSpill));
  }

  // The cases once more on a model loaded with other settings: prompt in one step, then token by token.
  Status loaded(const Way& way, const EngineSettings& settings, size_t max_tokens,
                const std::function<int64_t(const Runner&)>& count) {
    QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner, load(path_, settings));
    WayResult result{.count = count(*runner)};
    for (const Case& of : cases_) {
      Trace& trace = result.traces.emplace_back();
      QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner->open());
      const size_t end = std::min(max_tokens, of.tokens.size());
      size_t n = std::min(of.prompt.size(), end);
      for (size_t begin = 0; begin < end; begin += n, n = 1) {
        if (begin > 0 && !full() && begin >= of.prompt.size() + kQuickSteps) break;
        QUIRE_RETURN_IF_ERROR(feed(*runner, sequence, std::span(of.tokens).subspan(begin, n), trace));
      }
      runner->close(sequence);
    }
    return report(way, result);
  }

  EngineSettings small() const {
    EngineSettings settings = settings_;
    settings.max_sequences = 1;
    settings.kv_pages = 0;
    return settings;
  }

  Status threads() {
    for (const int n : {1, 2, 3, 8}) {
      if (n == n_threads_ || (!full() && n == 8)) continue;
      EngineSettings settings = small();
      settings.threads = n;
      QUIRE_RETURN_IF_ERROR(loaded({fmt::format("{} thread{}", n, n == 1 ? "" : "s"), "threads"}, settings,
                                   kContext,
                                   [](const Runner& runner) { return runner.device().n_threads(); }));
    }
    return {};
  }

  Status isas() {
    for (const std::string& isa : graph::CpuDevice::isas()) {
      if (isa == isa_) continue;
      EngineSettings settings = small();
      settings.isa = isa;
      // The scalar reference is slow by design.
      const size_t max_tokens = isa == "scalar" ? kScalarTokens : static_cast<size_t>(kContext);
      QUIRE_RETURN_IF_ERROR(
          loaded({"instruction set " + isa, "forced"}, settings, max_tokens,
                 [&](const Runner& runner) { return runner.device().isa() == isa ? 1 : 0; }));
    }
    return {};
  }

  // Optimisations that this model gives no occasion for have no row.
  Status optimisations() {
    for (const Use& use : uses_) {
      if (use.n == 0) continue;
      EngineSettings settings = small();
      settings.off.push_back(use.name);
      QUIRE_RETURN_IF_ERROR(
          loaded({"without " + use.name, "places"}, settings, kContext,
                 [&](const Runner& runner) { return use.n - runner.model().n_uses(use.name); }));
    }
    return {};
  }

  bool is_off(const char* optimisation) const {
    return std::ranges::find(settings_.off, optimisation) != settings_.off.end();
  }
  bool has_prefix_cache() const { return !is_off("prefix-cache"); }

  struct Use {
    std::string name;
    int64_t n = 0;  // places where the optimisation is at work in the reference
  };
  static constexpr size_t kQuickSteps = 4, kScalarTokens = 16;
  const std::string& path_;
  Extent extent_;
  OnRow on_row_;
  EngineSettings settings_;
  std::vector<Case> cases_;
  std::vector<Use> uses_;
  bool has_pages_ = false;
  int n_threads_ = 0;
  std::string isa_;
  VerifySummary summary_;
};

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kDifferent:
      return "different";
    case Verdict::kNotTaken:
      return "not taken";
  }
  return "";
}

Result<VerifySummary> run_verification(const std::string& path, const EngineSettings& settings, Extent extent,
                                       OnRow on_row) {
  return Run(path, settings, extent, on_row).run();
}

}  // namespace quire::verify

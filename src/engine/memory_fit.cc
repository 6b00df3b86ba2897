#include "engine/memory_fit.h"

#include <algorithm>

#include "base/function_ref.h"
#include "base/quantity_text.h"
#include "engine/model.h"
#include "engine/runner.h"

namespace quire {
namespace {

// The greatest number in [low, high] whose plan fits, given that low's does and that plans grow with it.
Result<int64_t> greatest_fit(int64_t low, int64_t high, size_t budget,
                             FunctionRef<Result<MemoryPlan>(int64_t)> plan) {
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    QUIRE_ASSIGN_OR_RETURN(const MemoryPlan tried, plan(middle));
    if (tried.total_bytes() <= budget) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

std::string parts_of(const MemoryPlan& plan) {
  std::string parts;
  for (const PlanRow& row : plan.rows) {
    if (row.place == "file" || row.bytes == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", row.kind, format_size(row.bytes));
  }
  return parts;
}

// Takes a plan apart into what grows with the context and what does not, for the reason of a fit.
std::string kv_reason(const MemoryPlan& plan) {
  size_t kv = 0;
  for (const PlanRow& row : plan.rows) kv += row.kind == "kv" ? row.bytes : 0;
  return fmt::format("{} for everything but keys and values, {} for those",
                     format_size(plan.total_bytes() - kv), format_size(kv));
}

}  // namespace

Result<MemoryFit> fit_to_memory(const std::string& path, const EngineSettings& settings, size_t budget,
                                FitParallel parallel) {
  MemoryFit fit{.settings = settings, .plan = {}, .reason = ""};
  QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, Model::open(path, settings));
  const int64_t whole = settings.ctx != 0 ? settings.ctx : model->n_ctx_train();
  const char* what = settings.ctx != 0 ? "the context asked for" : "the model's whole context";
  const auto plan_context = [&](int64_t ctx) {
    fit.settings.ctx = ctx;
    return Runner::plan(path, fit.settings);
  };
  QUIRE_ASSIGN_OR_RETURN(fit.plan, plan_context(whole));
  if (fit.plan.total_bytes() > budget) {
    const int64_t least = std::min(whole, kFitContextStep);
    QUIRE_ASSIGN_OR_RETURN(fit.plan, plan_context(least));
    if (fit.plan.total_bytes() > budget) {
      return make_error(
          ErrorCode::kResourceExhausted,
          "{} needed with a context of only {} tokens ({}), {} given: choose a smaller model, a "
          "smaller quantisation or a smaller --max-batch-tokens",
          format_size(fit.plan.total_bytes()), least, parts_of(fit.plan), format_size(budget));
    }
    QUIRE_ASSIGN_OR_RETURN(const int64_t steps,
                           greatest_fit(1, (whole - 1) / kFitContextStep, budget,
                                        [&](int64_t n) { return plan_context(n * kFitContextStep); }));
    QUIRE_ASSIGN_OR_RETURN(fit.plan,
                           plan_context(std::min(whole, std::max<int64_t>(steps, 1) * kFitContextStep)));
    fit.reason =
        fmt::format("--ctx {} is the longest context, in steps of {}, that fits {}: {}; {} would need more",
                    fit.plan.max_context, kFitContextStep, format_size(budget), kv_reason(fit.plan), what);
    return fit;
  }
  if (parallel == FitParallel::kChoose) {
    const auto plan_sequences = [&](int64_t n) {
      fit.settings.max_sequences = static_cast<int32_t>(n);
      return Runner::plan(path, fit.settings);
    };
    QUIRE_ASSIGN_OR_RETURN(const int64_t n,
                           greatest_fit(settings.max_sequences, kMaxFitSequences, budget, plan_sequences));
    QUIRE_ASSIGN_OR_RETURN(fit.plan, plan_sequences(n));
  }
  fit.reason = fmt::format(
      "{} of {} tokens fits {}, {} at a time: {}", what, fit.plan.max_context, format_size(budget),
      fit.plan.max_sequences == 1 ? "one sequence" : fmt::format("{} sequences", fit.plan.max_sequences),
      kv_reason(fit.plan));
  return fit;
}

Status check_budget(const std::string& path, const EngineSettings& settings, const MemoryPlan& plan,
                    size_t budget) {
  if (plan.total_bytes() <= budget) return {};
  EngineSettings smaller = settings;
  smaller.ctx = plan.max_context;
  std::string advice;
  const Result<MemoryFit> fit = fit_to_memory(path, smaller, budget, FitParallel::kKeep);
  if (fit.ok()) {
    advice = fmt::format("--ctx {} would fit", fit->plan.max_context);
  } else {
    smaller.max_sequences = 1;
    const Result<MemoryFit> alone = fit_to_memory(path, smaller, budget, FitParallel::kKeep);
    advice = alone.ok() ? fmt::format("--parallel 1 --ctx {} would fit", alone->plan.max_context)
                        : "choose a smaller model or a smaller quantisation";
  }
  return make_error(ErrorCode::kResourceExhausted, "{} needed ({}), {} given: {}",
                    format_size(plan.total_bytes()), parts_of(plan), format_size(budget), advice);
}

}  // namespace quire

#include "cli/perplexity_report.h"

#include <cmath>

namespace quire::cli {
namespace {

// perplexity / base perplexity - 1, and its standard error.
MeanWithError relative_difference(const BaseComparison& comparison) {
  const double ratio = std::exp(comparison.log_ratio.mean);
  return {.mean = ratio - 1, .error = ratio * comparison.log_ratio.error};
}

void add_comparison(Json& out, const BaseComparison& comparison) {
  const DivergenceSummary& divergence = comparison.divergence;
  const MeanWithError difference = relative_difference(comparison);
  out["base_perplexity"] = comparison.base_perplexity.value;
  out["difference"] = difference.mean;
  out["difference_error"] = difference.error;
  out["kld"] = {{"mean", divergence.mean.mean},
                {"mean_error", divergence.mean.error},
                {"median", divergence.median},
                {"p99", divergence.p99},
                {"max", divergence.max}};
  out["same_top"] = comparison.same_top.mean;
  out["same_top_error"] = comparison.same_top.error;
}

void print_comparison(Console& console, const BaseComparison& comparison) {
  const DivergenceSummary& divergence = comparison.divergence;
  const MeanWithError difference = relative_difference(comparison);
  console.print("base perplexity   {:.4f}, difference {:+.4f}% +- {:.4f}%\n",
                comparison.base_perplexity.value, 100 * difference.mean, 100 * difference.error);
  console.print("KL divergence     mean {:.6f} +- {:.6f}, median {:.6f}, 99% {:.6f}, max {:.6f}\n",
                divergence.mean.mean, divergence.mean.error, divergence.median, divergence.p99,
                divergence.max);
  console.print("same first token  {:.3f}% +- {:.3f}%\n", 100 * comparison.same_top.mean,
                100 * comparison.same_top.error);
}

}  // namespace

void print(Console& console, const PerplexityReport& report, std::span<const GateResult> gates) {
  const double tps = static_cast<double>(report.n_tokens) / report.seconds;
  if (console.json()) {
    Json out = {{"tokens", report.n_tokens},
                {"window", report.window},
                {"perplexity", report.score.perplexity.value},
                {"perplexity_error", report.score.perplexity.error}};
    if (report.score.comparison) add_comparison(out, *report.score.comparison);
    for (const GateResult& gate : gates)
      out["gate"][gate.name] = {{"found", gate.found}, {"limit", gate.limit}, {"passed", gate.passed}};
    out["seconds"] = report.seconds;
    out["tps"] = tps;
    console.print_json(out);
    return;
  }
  console.print("perplexity        {:.4f} +- {:.4f}  ({} tokens in windows of {}, {:.1f} tokens/s)\n",
                report.score.perplexity.value, report.score.perplexity.error, report.n_tokens, report.window,
                tps);
  if (report.score.comparison) print_comparison(console, *report.score.comparison);
  for (const GateResult& gate : gates)
    console.print("gate              {}: {}\n", gate.text(), gate.passed ? "passed" : "failed");
}

}  // namespace quire::cli

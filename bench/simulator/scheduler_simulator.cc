// Days of traffic in seconds: what the scheduler's rules and defaults do to waiting times, gaps and fairness.
//
//   scheduler_simulator [requests [rate [trace]]]       default: 20000 requests, 1.5 per second, every trace
//
// Steps take the time of a 135M model on two cores (docs/scheduling.md). Everything but that is the real
// thing.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "simulation.h"

int main(int argc, char** argv) {
  using namespace quire;
  using namespace quire::simulator;
  const int64_t n_requests = argc > 1 ? std::atoll(argv[1]) : 20000;
  const double rate = argc > 2 ? std::atof(argv[2]) : 1.5;
  const std::string only = argc > 3 ? argv[3] : "";
  if (n_requests < 1 || rate <= 0) {
    std::fputs("usage: scheduler_simulator [requests [rate [trace]]]\n", stderr);
    return 2;
  }
  const SimulationConfig config = {
      .table = {.limits = {.max_batch_tokens = 512}, .max_sequences = 32, .n_tenants = kTenants},
      .cost = {.fixed = 0.010, .per_stream = 0.0008, .per_prompt_token = 0.0009}};
  fmt::print("{:<16} {:>8} {:>8} {:>7} {:>9} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>7}\n", "trace",
             "ended", "refused", "tok/s", "first p50", "p99", "gap p50", "p99", "tenants", "shared",
             "preempt", "waste", "took");
  for (const TraceKind& trace : trace_kinds(rate)) {
    if (!only.empty() && trace.name != only) continue;
    const auto start = std::chrono::steady_clock::now();
    const SimulationResult r = simulate(trace, n_requests, config);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // How much longer the tenant that waits longest waits than the one that waits least.
    double least = 1e9, most = 0;
    for (const Histogram& tenant : r.tenant_first_token) {
      least = std::min(least, tenant.quantile(0.5));
      most = std::max(most, tenant.quantile(0.5));
    }
    const auto prompts = static_cast<double>(r.counters.prompt_tokens + r.positions_shared);
    fmt::print(
        "{:<16} {:>8} {:>8} {:>7.0f} {:>7.2f} s {:>7.2f} s {:>5.0f} ms {:>5.0f} ms {:>8.2f}x {:>7.1f}% {:>8} "
        "{:>7.2f}% {:>5.1f} s\n",
        trace.name, r.ended + r.cancelled, r.refused, static_cast<double>(r.answer_tokens) / r.seconds,
        r.first_token.quantile(0.5), r.first_token.quantile(0.99), 1e3 * r.gap.quantile(0.5),
        1e3 * r.gap.quantile(0.99), most / least, 100 * static_cast<double>(r.positions_shared) / prompts,
        r.counters.preemptions, 100 * static_cast<double>(r.counters.recomputed_tokens) / prompts, took);
    std::fflush(stdout);
  }
  return 0;
}

// Days of traffic in seconds: what the scheduler's rules and defaults do to waiting times, gaps and fairness.
//
//   scheduler_simulator [requests [rate [trace]]]       every trace, or one, with the defaults
//   scheduler_simulator sweep [requests [rate]]         one default after the other, changed
//
// 20,000 requests and 1.5 per second where not given. Steps take the time of a 135M model on two cores
// (docs/scheduling.md). Everything but that is the real thing.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "simulation.h"

namespace {

using namespace quire;
using namespace quire::simulator;

SimulationConfig defaults() {
  return {.table = {.limits = {.max_batch_tokens = 512}, .max_sequences = 32, .n_tenants = kTenants},
          .cost = {.fixed = 0.010, .per_stream = 0.0008, .per_prompt_token = 0.0009}};
}

// Pages that heavy traffic runs out of.
constexpr int32_t kSmallPool = 512;

// One default changed.
struct Change {
  std::string name;
  std::function<void(SimulationConfig&)> apply;
};

std::vector<Change> changes() {
  std::vector<Change> all = {{"defaults", [](SimulationConfig&) {}}};
  for (const int64_t n : {128, 256, 1024, 2048}) {
    all.push_back({fmt::format("steps of {} tokens", n),
                   [n](SimulationConfig& c) { c.table.limits.max_batch_tokens = n; }});
  }
  for (const double stretch : {1.5, 2.0, 4.0, 8.0}) {
    all.push_back({fmt::format("stretch {:.1f}", stretch),
                   [stretch](SimulationConfig& c) { c.table.limits.max_stretch = stretch; }});
  }
  for (const int ms : {0, 50, 200}) {
    all.push_back(
        {ms == 0 ? std::string("no longest gap") : fmt::format("longest gap {} ms", ms),
         [ms](SimulationConfig& c) { c.table.limits.max_token_gap = std::chrono::milliseconds(ms); }});
  }
  for (const int32_t n : {8, 16, 64}) {
    all.push_back({fmt::format("{} sequences", n), [n](SimulationConfig& c) { c.table.max_sequences = n; }});
  }
  const auto small_pool = [](SimulationConfig& c) { c.n_pages = kSmallPool; };
  all.push_back({fmt::format("{} pages", kSmallPool), small_pool});
  for (const int64_t reserve : {1, 16, 256}) {
    all.push_back({fmt::format("{} pages, reserve {}", kSmallPool, reserve),
                   [small_pool, reserve](SimulationConfig& c) {
                     small_pool(c);
                     c.table.decode_reserve = reserve;
                   }});
  }
  all.push_back({fmt::format("{} pages, reserve 1, spill", kSmallPool), [small_pool](SimulationConfig& c) {
                   small_pool(c);
                   c.table.decode_reserve = 1;
                   c.n_spill_pages = kSmallPool;
                   c.table.preemption = Preemption::kSpill;
                 }});
  return all;
}

void print_header(const char* first) {
  fmt::print("{:<26} {:>8} {:>7} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}\n", first,
             "ended", "refused", "tok/s", "first p50", "p99", "gap p50", "p99", "tenants", "shared",
             "preempt", "waste", "took");
}

void print_row(const std::string& name, const TraceKind& trace, int64_t n_requests,
               const SimulationConfig& config) {
  const auto start = std::chrono::steady_clock::now();
  const SimulationResult r = simulate(trace, n_requests, config);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // How much longer the tenant that waits longest waits than the one that waits least.
  double least = 0, most = 0;
  for (const Histogram& tenant : r.tenant_first_token) {
    const double median = tenant.quantile(0.5);
    least = least == 0 ? median : std::min(least, median);
    most = std::max(most, median);
  }
  const auto prompts =
      static_cast<double>(std::max<int64_t>(1, r.counters.prompt_tokens + r.positions_shared));
  fmt::print(
      "{:<26} {:>8} {:>7} {:>7.0f} {:>7.2f} s {:>7.2f} s {:>5.0f} ms {:>5.0f} ms {:>7.2f}x {:>7.1f}% {:>8} "
      "{:>6.2f}% {:>5.1f} s\n",
      name, r.ended + r.cancelled, r.refused, static_cast<double>(r.answer_tokens) / r.seconds,
      r.first_token.quantile(0.5), r.first_token.quantile(0.99), 1e3 * r.gap.quantile(0.5),
      1e3 * r.gap.quantile(0.99), least > 0 ? most / least : 0,
      100 * static_cast<double>(r.positions_shared) / prompts, r.counters.preemptions,
      100 * static_cast<double>(r.counters.recomputed_tokens) / prompts, took);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool sweep = !words.empty() && words.front() == "sweep";
  if (sweep) words.erase(words.begin());
  const int64_t n_requests = !words.empty() ? std::atoll(words[0].c_str()) : 20000;
  const double rate = words.size() > 1 ? std::atof(words[1].c_str()) : 1.5;
  const std::string only = words.size() > 2 ? words[2] : "";
  if (n_requests < 1 || rate <= 0 || words.size() > (sweep ? 2u : 3u)) {
    std::fputs("usage: scheduler_simulator [sweep] [requests [rate [trace]]]\n", stderr);
    return 2;
  }
  if (!sweep) {
    print_header("trace");
    for (const TraceKind& trace : trace_kinds(rate)) {
      if (only.empty() || trace.name == only) print_row(trace.name, trace, n_requests, defaults());
    }
    return 0;
  }
  for (const char* name : {"long-among-chat", "heavy-tail", "burst"}) {
    print_header(name);
    for (const Change& change : changes()) {
      SimulationConfig config = defaults();
      change.apply(config);
      const std::vector<TraceKind> kinds = trace_kinds(rate);  // anew: a trace is used up
      print_row(change.name, *std::ranges::find(kinds, name, &TraceKind::name), n_requests, config);
    }
  }
  return 0;
}

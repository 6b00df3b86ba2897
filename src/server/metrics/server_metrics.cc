#include "server/metrics/server_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/metrics/process_usage.h"

namespace quire::server {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

const Histogram::BucketBoundaries kSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                              1,     2.5,  5,     10,   30,  60,   120};
const Histogram::BucketBoundaries kGaps = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                           0.1,   0.25,   0.5,   1,    2.5,   5};

Counter& counter(Registry& registry, const char* name, const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

Gauge& gauge(Registry& registry, const char* name, const char* help) {
  return BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

Histogram& histogram(Registry& registry, const char* name, const char* help,
                     const Histogram::BucketBoundaries& buckets) {
  return BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

// A counter of ours follows one that the engine keeps, which never falls.
template <typename Number>
void follow(Counter& counter, Number value) {
  const double behind = static_cast<double>(value) - counter.Value();
  if (behind > 0) counter.Increment(behind);
}

}  // namespace

struct ServerMetrics::Families {
  Registry registry;
  Family<Counter>& requests = BuildCounter()
                                  .Name("quire_requests_total")
                                  .Help("HTTP requests by route and status")
                                  .Register(registry);
  Counter& prompt_tokens = counter(registry, "quire_prompt_tokens_total", "Tokens of prompts");
  Counter& cached_tokens = counter(registry, "quire_prompt_tokens_cached_total",
                                   "Tokens of prompts whose keys and values were there already");
  Counter& completion_tokens = counter(registry, "quire_completion_tokens_total", "Tokens of answers");
  Histogram& first_token = histogram(registry, "quire_time_to_first_token_seconds",
                                     "From submission to the first token of an answer", kSeconds);
  Histogram& gap = histogram(registry, "quire_token_gap_seconds", "Between deliveries of one stream", kGaps);
  Histogram& queued = histogram(registry, "quire_queue_seconds", "From submission to being let in", kSeconds);
  Histogram& total = histogram(registry, "quire_answer_seconds", "From submission to the end", kSeconds);
  Gauge& connections = gauge(registry, "quire_connections", "Open HTTP connections");
  Gauge& answering = gauge(registry, "quire_requests_in_flight", "HTTP requests being answered");
  Gauge& running = gauge(registry, "quire_sequences_running", "Sequences in the batch");
  Gauge& waiting = gauge(registry, "quire_sequences_queued", "Sequences waiting to be let in");
  Gauge& answer_bytes = gauge(registry, "quire_answer_memory_bytes", "Of --answer-memory, taken by requests");
  Gauge& step_fixed = gauge(registry, "quire_step_seconds_fixed", "Learned cost of a step by itself");
  Gauge& step_stream = gauge(registry, "quire_step_seconds_per_stream", "Learned cost of a stream's token");
  Gauge& step_prompt =
      gauge(registry, "quire_step_seconds_per_prompt_token", "Learned cost of the first token of a prompt");
  Family<Gauge>& pages =
      BuildGauge().Name("quire_pages").Help("Pages of the pool by layer group and state").Register(registry);
  Family<Gauge>& page_bytes =
      BuildGauge().Name("quire_page_bytes").Help("Bytes of a page by layer group").Register(registry);
  Counter& steps = counter(registry, "quire_steps_total", "Steps of the model");
  Counter& stream_rows = counter(registry, "quire_step_stream_rows_total", "Tokens decoded, over all steps");
  Counter& prompt_rows =
      counter(registry, "quire_step_prompt_rows_total", "Tokens of prompts computed, with recomputation");
  Counter& preemptions = counter(registry, "quire_preemptions_total", "Sequences that gave their pages back");
  Counter& lookups = counter(registry, "quire_prefix_lookups_total", "Looks for a known beginning");
  Counter& hits = counter(registry, "quire_prefix_hits_total", "Looks that found one");
  Counter& evictions = counter(registry, "quire_evictions_total", "Cached pages that were given away");

  Family<Gauge>& memory =
      BuildGauge().Name("quire_memory_bytes").Help("Memory by kind and place, as planned").Register(registry);
  Gauge& resident =
      gauge(registry, "process_resident_memory_bytes", "Resident memory, mapped files included");
  Gauge& open_files = gauge(registry, "process_open_fds", "Open file descriptors");
  Counter& cpu = counter(registry, "process_cpu_seconds_total", "CPU time of all threads");
  Gauge& start = gauge(registry, "process_start_time_seconds", "When the server was started, since 1970");

  Families() { start.Set(static_cast<double>(std::time(nullptr))); }

  void read(const ProcessUsage& process) {
    resident.Set(static_cast<double>(process.resident_bytes));
    open_files.Set(static_cast<double>(process.open_files));
    follow(cpu, process.cpu_seconds);
  }

  void read(const EngineGauges& engine) {
    running.Set(engine.running);
    waiting.Set(engine.queued);
    answer_bytes.Set(static_cast<double>(engine.answer_bytes));
    step_fixed.Set(engine.cost.fixed);
    step_stream.Set(engine.cost.per_stream);
    step_prompt.Set(engine.cost.per_prompt_token);
    follow(steps, engine.schedule.steps);
    follow(stream_rows, engine.schedule.stream_rows);
    follow(prompt_rows, engine.schedule.prompt_tokens);
    follow(preemptions, engine.schedule.preemptions);
    follow(lookups, engine.memory.lookups);
    follow(hits, engine.memory.hits);
    follow(evictions, engine.memory.evictions);
    for (int32_t i = 0; i < engine.memory.n_groups; ++i) {
      const GroupGauges& group = engine.memory.groups[static_cast<size_t>(i)];
      const std::string name = group.window == 0 ? "full" : "window_" + std::to_string(group.window);
      pages.Add({{"group", name}, {"state", "free"}}).Set(group.free);
      pages.Add({{"group", name}, {"state", "held"}}).Set(group.held);
      pages.Add({{"group", name}, {"state", "cached"}}).Set(group.cached);
      page_bytes.Add({{"group", name}}).Set(static_cast<double>(group.page_bytes));
    }
  }
};

ServerMetrics::ServerMetrics() : families_(std::make_unique<Families>()) {}
ServerMetrics::~ServerMetrics() = default;

void ServerMetrics::request_ended(const std::string& route, int status) {
  families_->requests.Add({{"route", route}, {"status", std::to_string(status)}}).Increment();
}

void ServerMetrics::answer_ended(const Accounting& accounting) {
  families_->prompt_tokens.Increment(static_cast<double>(accounting.prompt_tokens));
  families_->cached_tokens.Increment(static_cast<double>(accounting.cached_tokens));
  families_->completion_tokens.Increment(static_cast<double>(accounting.completion_tokens));
  if (accounting.completion_tokens == 0) return;
  families_->first_token.Observe(accounting.queued_seconds + accounting.prompt_seconds);
  families_->queued.Observe(accounting.queued_seconds);
  families_->total.Observe(accounting.total_seconds);
}

void ServerMetrics::observe_gap(double seconds) { families_->gap.Observe(seconds); }

void ServerMetrics::set_memory(const MemoryPlan& plan) {
  std::map<std::pair<std::string, std::string>, double> bytes;
  for (const PlanRow& row : plan.rows) bytes[{row.kind, row.place}] += static_cast<double>(row.bytes);
  for (const auto& [key, sum] : bytes)
    families_->memory.Add({{"kind", key.first}, {"place", key.second}}).Set(sum);
}

std::string ServerMetrics::scrape(const EngineGauges* engine, const ServerGauges& server) {
  families_->connections.Set(server.connections);
  families_->answering.Set(server.requests);
  families_->read(process_usage());
  if (engine != nullptr) families_->read(*engine);
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace quire::server

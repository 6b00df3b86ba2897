#include "simulation.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace quire::simulator {
namespace {

struct Simulated : LiveRequest {
  int32_t cancel_after = -1;
  EngineTime last_token{0};
};

// Ids that are the same for the shared part and unlike anything else for the rest.
std::vector<int32_t> prompt_of(const Arrival& arrival, int64_t index) {
  std::vector<int32_t> ids(static_cast<size_t>(arrival.n_prompt));
  for (int32_t i = 0; i < arrival.n_prompt; ++i) {
    const bool shared = i < arrival.n_shared;
    const int64_t id =
        shared ? int64_t{arrival.prefix} * 7919 + i : (index * 104729 + i * 31) % 1000003 + 100000;
    ids[static_cast<size_t>(i)] = static_cast<int32_t>(id);
  }
  return ids;
}

double seconds(EngineTime time) { return std::chrono::duration<double>(time).count(); }

class Simulator {
 public:
  explicit Simulator(const SimulationConfig& config)
      : config_(config), memory_(make_memory(config)), table_(memory_, config.table) {}

  SimulationResult run(const TraceKind& trace, int64_t n_requests) {
    int64_t n_arrived = 0;
    std::optional<Arrival> next = trace.next(n_arrived);
    while (next || !table_.empty()) {
      if (table_.empty()) now_ = std::max(now_, next->at);
      while (next && next->at <= now_) {
        arrive(*next, n_arrived++);
        next = n_arrived < n_requests ? std::optional(trace.next(n_arrived)) : std::nullopt;
      }
      step();
    }
    result_.seconds = seconds(now_);
    result_.counters = table_.counters();
    result_.positions_shared = memory_.gauges().positions_shared;
    return std::move(result_);
  }

 private:
  static SequenceMemory make_memory(const SimulationConfig& config) {
    Result<SequenceMemory> memory =
        SequenceMemory::create({.needs = {AttentionNeed{.n_head_kv = 1, .d_k = 16, .d_v = 16}},
                                .n_pages = config.n_pages,
                                .n_spill_pages = config.n_spill_pages,
                                .max_sequences = config.table.max_sequences,
                                .max_positions = config.max_positions,
                                .max_step_tokens = config.table.limits.max_batch_tokens,
                                .allocation = Allocation::kDry});
    QUIRE_CHECK(memory.ok());
    return std::move(*memory);
  }

  void arrive(const Arrival& arrival, int64_t index) {
    if (table_.n_queued() >= config_.table.max_queued) {
      ++result_.refused;
      return;
    }
    std::unique_ptr<Simulated> request = take();
    request->tokens = prompt_of(arrival, index);
    request->n_prompt = arrival.n_prompt;
    request->max_tokens = arrival.n_prompt + arrival.n_answer;
    request->tokens.reserve(static_cast<size_t>(request->max_tokens));
    request->tenant = arrival.tenant;
    request->cancel_after = arrival.cancel_after;
    table_.add(*request.release(), arrival.at);
  }

  void step() {
    table_.admit(now_);
    const BatchPlan& plan = table_.plan(now_);
    QUIRE_CHECK(!plan.rows.empty());
    memory_.begin_step();
    completed_.clear();
    for (const PlannedRows& rows : plan.rows) {
      QUIRE_CHECK(memory_.append(table_.at(rows.slot).sequence, table_.tokens(rows)).ok());
      if (table_.completes(rows)) completed_.push_back(rows.slot);
    }
    memory_.commit_step();
    const double took = config_.cost.fixed + config_.cost.per_stream * static_cast<double>(plan.n_streams) +
                        config_.cost.per_prompt_token * static_cast<double>(plan.n_prompt_tokens);
    now_ += std::chrono::duration_cast<EngineTime>(std::chrono::duration<double>(took));
    table_.advance(plan, now_, took);
    for (const int32_t slot : completed_) deliver(slot);
  }

  void deliver(int32_t slot) {
    auto& request = static_cast<Simulated&>(table_.at(slot));
    const double waited =
        seconds(now_ - (request.n_answer() == 0 ? request.claim.arrived : request.last_token));
    if (request.n_answer() == 0) {
      result_.first_token.add(waited);
      result_.tenant_first_token[static_cast<size_t>(request.tenant)].add(waited);
    } else {
      result_.gap.add(waited);
    }
    request.last_token = now_;
    table_.push(slot, static_cast<int32_t>(request.claim.number % 100000));
    ++result_.answer_tokens;
    const bool cancelled = request.n_answer() == request.cancel_after;
    if (!cancelled && static_cast<int64_t>(request.tokens.size()) < request.max_tokens) return;
    ++(cancelled ? result_.cancelled : result_.ended);
    table_.remove(request);
    give_back(request);
  }

  std::unique_ptr<Simulated> take() {
    if (unused_.empty()) return std::make_unique<Simulated>();
    std::unique_ptr<Simulated> request = std::move(unused_.back());
    unused_.pop_back();
    return request;
  }
  void give_back(Simulated& request) {
    request = {};
    unused_.emplace_back(&request);
  }

  SimulationConfig config_;
  SequenceMemory memory_;
  RequestTable table_;
  EngineTime now_{0};
  std::vector<int32_t> completed_;
  std::vector<std::unique_ptr<Simulated>> unused_;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const TraceKind& trace, int64_t n_requests, const SimulationConfig& config) {
  return Simulator(config).run(trace, n_requests);
}

}  // namespace quire::simulator

// RequestTable: the requests there are, queued and running, and their share of memory.
//
// Joins the pure scheduler to a SequenceMemory: lets requests in, plans steps, takes note of what a step did,
// gives pages back at every end. It runs no model and knows no clock but the times it is given, so that the
// engine and the simulator drive the same code. Borrows the memory and the requests, which must stay where
// they are until they are removed; every request added is removed exactly once. One thread at a time; never
// allocates after construction.
//
//   table.add(request, now);
//   table.admit(now);
//   const BatchPlan& plan = table.plan(now);
//   ...run plan.rows: table.rows(row) of table.at(row.slot)...
//   table.advance(plan, now, seconds);
//   table.push(slot, token);        // for rows that ended a request's known tokens
//   table.remove(request);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "engine/live_request.h"
#include "engine/scheduler.h"
#include "memory/sequence_memory.h"

namespace quire {

struct RequestTableConfig {
  SchedulerLimits limits = {};
  int32_t max_sequences = 1;
  int32_t max_queued = 1024;
  int32_t n_tenants = 1;
  int64_t decode_reserve = 64;  // tokens that every running request may still grow when another is let in
  Preemption preemption = Preemption::kCheaper;
  double copy_bytes_per_second = 0;  // of spilling; 0 = unknown, then it is never the cheaper way
};

// Since the table was made.
struct ScheduleCounters {
  int64_t steps = 0;
  int64_t stream_rows = 0;    // rows of decoding streams
  int64_t prompt_tokens = 0;  // computed, those of recomputation included
  int64_t admissions = 0;
  int64_t preemptions = 0;
  int64_t refused_steps = 0;      // of those, because a step found too few pages
  int64_t spills = 0;             // of those, with keys and values copied away instead of given up
  int64_t prefix_waits = 0;       // requests that waited for a prefix another was computing
  int64_t recomputed_tokens = 0;  // lost by preemption, neither spilled nor found in memory again
  int64_t chunked_prompts = 0;    // steps in which a prompt was cut
};

class RequestTable {
 public:
  RequestTable(SequenceMemory& memory, const RequestTableConfig& config);

  // Longest sequence that all pages together can hold, at most max_positions.
  static int64_t longest_sequence(const SequenceMemory& memory, int64_t max_positions);

  // Puts a request at the end of the queue. The queue must have room, and max_tokens must not be above
  // longest_sequence().
  void add(LiveRequest& request, EngineTime now);
  // Ends a request wherever it is; all its pages go back at once.
  void remove(LiveRequest& request);

  // Lets in who is next in line, as long as there is room: for the pages of its whole prompt and a reserve
  // for its answer, less those that it shares with running requests. Running requests whose reader is behind
  // make room: they go back into the queue until it has caught up.
  void admit(EngineTime now);
  // The next step; gives pages back by preemption until there is one. Empty when nothing can go forward.
  const BatchPlan& plan(EngineTime now);
  // Puts a running request back into the queue; what it held is spilled, or given up, to be found in memory
  // or computed again.
  void preempt(int32_t slot);
  // A step found too few pages, whatever had been counted: preempts whom choose_victim() names. False when
  // there is only one running request, which therefore cannot go on.
  bool make_room();
  // The step of this plan has been run and took so long.
  void advance(const BatchPlan& plan, EngineTime now, double seconds);
  // Adds a token to a request whose known tokens are all in memory.
  void push(int32_t slot, int32_t token);
  // A running request whose reader is behind pauses; a queued one is not let in.
  void set_reader(LiveRequest& request, Reader reader);

  LiveRequest& at(int32_t slot) { return *slots_[static_cast<size_t>(slot)]; }
  LiveRequest* at_or_null(int32_t slot) { return slots_[static_cast<size_t>(slot)]; }
  int64_t held(int32_t slot) const { return running_[static_cast<size_t>(slot)].held; }
  std::span<const int32_t> tokens(const PlannedRows& rows);  // that these rows feed
  bool completes(const PlannedRows& rows) const;             // whether they reach the last known token

  int32_t n_queued() const { return static_cast<int32_t>(queue_.size()); }
  std::span<const int32_t> n_queued_by_tenant() const { return n_queued_; }
  int32_t n_running() const { return n_running_; }
  bool empty() const { return queue_.empty() && n_running_ == 0; }
  // Some request for which `is_it` is true, or null.
  LiveRequest* find(FunctionRef<bool(const LiveRequest&)> is_it);

  SchedulerState state(EngineTime now) const;
  const ScheduleCounters& counters() const { return counters_; }
  const StepCost& cost() const { return clock_.cost(); }

 private:
  RunningRequest& view(int32_t slot) { return running_[static_cast<size_t>(slot)]; }
  void enqueue(LiveRequest& request);
  void leave_queue(size_t queued);
  size_t place_in_queue(const LiveRequest& request) const;
  bool preempt_paused();
  PageCounts pages_to_reach(const LiveRequest& request) const;
  bool admit_next(EngineTime now);
  void let_in(size_t queued);
  int64_t take_sequence(LiveRequest& request);
  void give_up_sequence(LiveRequest& request);
  void leave_slot(LiveRequest& request);
  bool spills(const LiveRequest& request) const;
  void wake_tenant(int32_t tenant);
  void charge(const LiveRequest& request, int64_t n_tokens);
  void refresh_tails();

  SequenceMemory& memory_;
  RequestTableConfig config_;
  Scheduler scheduler_;
  StepClock clock_;
  std::vector<RunningRequest> running_;  // by slot
  std::vector<LiveRequest*> slots_;      // by slot; null when free
  std::vector<QueuedRequest> queued_;    // parallel to queue_
  std::vector<LiveRequest*> queue_;
  std::vector<TenantState> tenants_;
  std::vector<int32_t> n_live_, n_queued_;  // by tenant
  std::vector<int32_t> sequence_slot_;      // by sequence index
  uint64_t next_number_ = 1;
  int32_t last_left_ = 0;  // the tenant of the request that was removed last
  int32_t n_running_ = 0;
  int32_t n_spilled_ = 0;  // queued with a sequence
  // The request that was next in line when pages last were too few for it, and those that were left then:
  // what it would share, and need, is not looked up again before there are more.
  struct {
    uint64_t number = 0;
    PageCounts left = {};
  } blocked_;
  ScheduleCounters counters_;
};

}  // namespace quire

#include "engine/request_table.h"

#include <algorithm>

#include "base/check.h"

namespace quire {
namespace {

// Groups whose pages can run out. A windowed group beside a full one cannot: it has pages for every
// sequence's window and a step, or as many as the full group, of which no sequence ever holds fewer.
int32_t n_counted(const SequenceMemory& memory) {
  if (memory.n_groups() == 0) return 0;  // states only
  return memory.group(0).window() == 0 ? 1 : memory.n_groups();
}

PageCounts counted(const SequenceMemory& memory, PageCounts counts) {
  std::fill(counts.groups.begin() + n_counted(memory), counts.groups.end(), 0);
  return counts;
}

}  // namespace

RequestTable::RequestTable(SequenceMemory& memory, const RequestTableConfig& config)
    : memory_(memory), config_(config), scheduler_(config.limits, config.max_sequences) {
  const auto n_slots = static_cast<size_t>(config.max_sequences);
  const auto n_tenants = static_cast<size_t>(config.n_tenants);
  // A preempted request goes back to the queue even when that is full.
  const size_t max_queued = static_cast<size_t>(config.max_queued) + n_slots;
  running_.resize(n_slots);
  slots_.resize(n_slots);
  sequence_slot_.resize(n_slots, -1);
  queued_.reserve(max_queued);
  queue_.reserve(max_queued);
  tenants_.resize(n_tenants);
  n_live_.resize(n_tenants);
  n_queued_.resize(n_tenants);
}

int64_t RequestTable::longest_sequence(const SequenceMemory& memory, int64_t max_positions) {
  PageCounts all;
  const MemoryGauges gauges = memory.gauges();
  for (size_t g = 0; g < static_cast<size_t>(gauges.n_groups); ++g) all.groups[g] = gauges.groups[g].pages;
  int64_t fits = 0, too_long = max_positions + 1;
  while (too_long - fits > 1) {
    const int64_t middle = fits + (too_long - fits) / 2;
    (memory.needed_for(middle).fits(all) ? fits : too_long) = middle;
  }
  return fits;
}

void RequestTable::add(LiveRequest& request, EngineTime now) {
  QUIRE_CHECK(request.place == LiveRequest::Place::kNowhere && queue_.size() < queue_.capacity());
  QUIRE_CHECK(request.tenant >= 0 && request.tenant < config_.n_tenants);
  QUIRE_CHECK(static_cast<int64_t>(request.tokens.size()) < request.max_tokens);
  request.claim = {
      .number = next_number_++, .tenant = request.tenant, .priority = request.priority, .arrived = now};
  wake_tenant(request.tenant);
  ++n_live_[static_cast<size_t>(request.tenant)];
  enqueue(request);
}

// A tenant that was away cannot claim the time it did not use: it starts level with the least served of those
// present or, where nobody is, with the one that left last, so that having had the machine to oneself is no
// debt. Source: Sheng et al., "Fairness in Serving Large Language Models", 2024.
void RequestTable::wake_tenant(int32_t tenant) {
  if (n_live_[static_cast<size_t>(tenant)] > 0) return;
  int64_t least = -1;
  for (size_t t = 0; t < tenants_.size(); ++t) {
    if (n_live_[t] > 0 && (least < 0 || tenants_[t].served < least)) least = tenants_[t].served;
  }
  if (least < 0) least = tenants_[static_cast<size_t>(last_left_)].served;
  int64_t& served = tenants_[static_cast<size_t>(tenant)].served;
  served = std::max(served, least);
}

void RequestTable::enqueue(LiveRequest& request) {
  const bool spilled = request.sequence.index >= 0;
  n_spilled_ += spilled ? 1 : 0;
  queued_.push_back({.claim = request.claim, .wait = {}, .reader = request.reader, .spilled = spilled});
  queue_.push_back(&request);
  ++n_queued_[static_cast<size_t>(request.tenant)];
  request.place = LiveRequest::Place::kQueue;
}

// Of its known tokens and the reserve for its answer.
PageCounts RequestTable::pages_to_reach(const LiveRequest& request) const {
  const auto known = static_cast<int64_t>(request.tokens.size());
  return counted(memory_, memory_.needed_for(std::min(known + config_.decode_reserve, request.max_tokens)));
}

void RequestTable::remove(LiveRequest& request) {
  if (request.place == LiveRequest::Place::kSlot) {
    leave_slot(request);
  } else {
    QUIRE_CHECK(request.place == LiveRequest::Place::kQueue);
    leave_queue(place_in_queue(request));
  }
  if (request.sequence.index >= 0) give_up_sequence(request);
  request.place = LiveRequest::Place::kNowhere;
  --n_live_[static_cast<size_t>(request.tenant)];
  last_left_ = request.tenant;
}

size_t RequestTable::place_in_queue(const LiveRequest& request) const {
  return static_cast<size_t>(std::ranges::find(queue_, &request) - queue_.begin());
}

void RequestTable::leave_queue(size_t queued) {
  --n_queued_[static_cast<size_t>(queue_[queued]->tenant)];
  n_spilled_ -= queued_[queued].spilled ? 1 : 0;
  queue_[queued] = queue_.back();
  queued_[queued] = queued_.back();
  queue_.pop_back();
  queued_.pop_back();
}

// Keeps the sequence.
void RequestTable::leave_slot(LiveRequest& request) {
  sequence_slot_[static_cast<size_t>(request.sequence.index)] = -1;
  view(request.slot) = {};
  slots_[static_cast<size_t>(request.slot)] = nullptr;
  request.slot = -1;
  --n_running_;
}

void RequestTable::give_up_sequence(LiveRequest& request) {
  memory_.close(request.sequence);
  request.sequence = {};
}

void RequestTable::preempt(int32_t slot) {
  LiveRequest& request = at(slot);
  ++counters_.preemptions;
  ++request.n_preempted;
  request.n_held = view(slot).held;
  leave_slot(request);
  if (spills(request)) {
    QUIRE_CHECK(memory_.spill(request.sequence).ok());
    ++counters_.spills;
  } else {
    give_up_sequence(request);
  }
  enqueue(request);
}

bool RequestTable::spills(const LiveRequest& request) const {
  if (request.reader == Reader::kBehind) return false;  // it would keep a sequence from those who can go on
  if (config_.preemption == Preemption::kRecompute || request.n_held == 0) return false;
  if (!memory_.can_spill(request.sequence)) return false;
  const SequenceHolding holding = memory_.holding(request.sequence);
  return config_.preemption == Preemption::kSpill ||
         spilling_is_cheaper(holding.bytes, holding.own_positions, clock_.cost(),
                             config_.copy_bytes_per_second);
}

bool RequestTable::make_room() {
  if (n_running_ < 2) return false;
  preempt(*choose_victim(running_));
  ++counters_.refused_steps;
  return true;
}

SchedulerState RequestTable::state(EngineTime now) const {
  SchedulerState state{.now = now,
                       .running = running_,
                       .queued = queued_,
                       .tenants = tenants_,
                       .free_sequences = config_.max_sequences - n_running_ - n_spilled_,
                       .available = memory_.available(),
                       .cost = clock_.cost()};
  state.pages_left = n_counted(memory_) == 0 ? INT32_MAX : state.available.groups[0];
  for (size_t g = 1; g < static_cast<size_t>(n_counted(memory_)); ++g)
    state.pages_left = std::min(state.pages_left, state.available.groups[g]);
  for (const LiveRequest* request : slots_) {
    if (request == nullptr) continue;
    const PageCounts reach = pages_to_reach(*request);
    const int32_t copied = running_[static_cast<size_t>(request->slot)].tail == TailPage::kCopied ? 1 : 0;
    for (int32_t g = 0; g < n_counted(memory_); ++g) {
      const PageGroup& group = memory_.group(g);
      const int32_t held =
          group.end_page(request->sequence.index) - group.first_page(request->sequence.index);
      state.owed.groups[static_cast<size_t>(g)] +=
          std::max(0, reach.groups[static_cast<size_t>(g)] - held) + copied;
    }
  }
  return state;
}

bool RequestTable::preempt_paused() {
  const std::optional<int32_t> paused = choose_paused(running_);
  if (paused) preempt(*paused);
  return paused.has_value();
}

void RequestTable::admit(EngineTime now) {
  if (queue_.empty()) return;
  if (n_running_ == config_.max_sequences && !choose_paused(running_)) return;
  while (admit_next(now)) continue;
}

// False when nothing has changed.
bool RequestTable::admit_next(EngineTime now) {
  SchedulerState seen = state(now);
  const std::optional<size_t> next = scheduler_.next_in_line(seen);
  if (!next) {
    seen.free_sequences = 1;  // would anybody take it?
    return scheduler_.next_in_line(seen) && preempt_paused();
  }
  LiveRequest& request = *queue_[*next];
  PageCounts left = counted(memory_, seen.available);
  left -= seen.owed;
  if (blocked_.number == request.claim.number && left.fits(blocked_.left)) return preempt_paused();

  const PrefixMatch match =
      request.rows == RowUse::kAll ? PrefixMatch{} : memory_.match(request.scope, request.tokens);
  if (match.worth_waiting() && !queued_[*next].spilled) {
    const int32_t producer = sequence_slot_[static_cast<size_t>(match.producer.index)];
    QUIRE_CHECK(producer >= 0);
    queued_[*next].wait = {.slot = producer, .number = view(producer).claim.number, .length = match.pending};
    ++counters_.prefix_waits;
    return true;
  }
  PageCounts pages = pages_to_reach(request);
  pages -= counted(memory_, match.held);
  if (!has_room(seen, pages)) {
    blocked_ = {.number = request.claim.number, .left = left};
    return preempt_paused();
  }
  if (queued_[*next].spilled && !memory_.can_restore(request.sequence)) return preempt_paused();
  if (request.n_admitted == 0) request.first_admitted = now;
  tenants_[static_cast<size_t>(request.tenant)].last_served[static_cast<size_t>(request.priority)] = now;
  let_in(*next);
  return true;
}

void RequestTable::let_in(size_t queued) {
  LiveRequest& request = *queue_[queued];
  leave_queue(queued);

  const auto free = std::ranges::find(slots_, nullptr);
  QUIRE_CHECK(free != slots_.end());
  const int64_t held = take_sequence(request);
  request.slot = static_cast<int32_t>(free - slots_.begin());
  request.place = LiveRequest::Place::kSlot;
  *free = &request;
  sequence_slot_[static_cast<size_t>(request.sequence.index)] = request.slot;
  const auto known = static_cast<int64_t>(request.tokens.size());
  view(request.slot) = {.use = SlotUse::kRuns,
                        .tail = held % kPagePositions != 0 ? TailPage::kCopied : TailPage::kOwn,
                        .rows = request.rows,
                        .claim = request.claim,
                        .begin = held,
                        .held = held,
                        .known = known};
  ++n_running_;
  ++counters_.admissions;
  // What preemption lost is computed at nobody's expense.
  if (++request.n_admitted == 1) {
    request.n_reused = held;
    charge(request, known - held);
  } else {
    counters_.recomputed_tokens += std::max<int64_t>(0, request.n_held - held);
  }
}

// With what is there of its tokens: the number of those.
int64_t RequestTable::take_sequence(LiveRequest& request) {
  if (request.sequence.index >= 0) {
    QUIRE_CHECK(memory_.restore(request.sequence).ok());
    return memory_.length(request.sequence);
  }
  Result<SequenceId> sequence = memory_.open(request.scope);
  QUIRE_CHECK(sequence.ok());  // state() counts them
  request.sequence = *sequence;
  if (request.rows == RowUse::kAll) return 0;
  return memory_.attach(request.sequence, request.tokens);
}

// Whether the first write copies the last page depends on who else holds it, and on room.
void RequestTable::refresh_tails() {
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (running_[slot].tail == TailPage::kOwn || slots_[slot] == nullptr) continue;
    const PageCounts next = memory_.needed(slots_[slot]->sequence, 1);
    if (next == PageCounts{}) running_[slot].tail = TailPage::kOwn;
  }
}

const BatchPlan& RequestTable::plan(EngineTime now) {
  while (true) {
    refresh_tails();
    const BatchPlan& plan = scheduler_.plan(state(now));
    if (!plan.preempt) return plan;
    preempt(*plan.preempt);
  }
}

void RequestTable::advance(const BatchPlan& plan, EngineTime now, double seconds) {
  for (const PlannedRows& rows : plan.rows) {
    RunningRequest& running = view(rows.slot);
    running.held += rows.n_tokens;
    running.tail = TailPage::kOwn;
    if (running.held < running.known) ++counters_.chunked_prompts;
    TenantState& tenant = tenants_[static_cast<size_t>(running.claim.tenant)];
    tenant.last_served[static_cast<size_t>(running.claim.priority)] = now;
  }
  ++counters_.steps;
  counters_.stream_rows += plan.n_streams;
  counters_.prompt_tokens += plan.n_prompt_tokens;
  clock_.observe({.n_streams = plan.n_streams,
                  .n_prompt_tokens = plan.n_prompt_tokens,
                  .n_prompt_positions = plan.n_prompt_positions,
                  .seconds = seconds});
}

void RequestTable::push(int32_t slot, int32_t token) {
  LiveRequest& request = at(slot);
  RunningRequest& running = view(slot);
  QUIRE_CHECK(running.held == running.known);
  request.tokens.push_back(token);
  ++running.known;
  charge(request, 1);
}

void RequestTable::charge(const LiveRequest& request, int64_t n_tokens) {
  tenants_[static_cast<size_t>(request.tenant)].served += n_tokens * (kServedUnit / request.weight);
}

void RequestTable::set_reader(LiveRequest& request, Reader reader) {
  if (request.reader == reader) return;
  request.reader = reader;
  if (request.place == LiveRequest::Place::kSlot) {
    view(request.slot).use = reader == Reader::kBehind ? SlotUse::kPaused : SlotUse::kRuns;
  } else {
    queued_[place_in_queue(request)].reader = reader;
  }
}

std::span<const int32_t> RequestTable::tokens(const PlannedRows& rows) {
  return std::span<const int32_t>(at(rows.slot).tokens)
      .subspan(static_cast<size_t>(view(rows.slot).held), static_cast<size_t>(rows.n_tokens));
}

bool RequestTable::completes(const PlannedRows& rows) const {
  const RunningRequest& running = running_[static_cast<size_t>(rows.slot)];
  return running.held + rows.n_tokens == running.known;
}

LiveRequest* RequestTable::find(FunctionRef<bool(const LiveRequest&)> is_it) {
  for (const auto* list : {&slots_, &queue_}) {
    for (LiveRequest* request : *list) {
      if (request != nullptr && is_it(*request)) return request;
    }
  }
  return nullptr;
}

}  // namespace quire

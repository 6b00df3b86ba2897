#include "engine/scheduler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace quire {
namespace {

// Pages that growing by n_tokens takes, in every group.
int64_t growth(const RunningRequest& request, int64_t n_tokens) {
  const int64_t copied = request.tail == TailPage::kCopied ? 1 : 0;
  return pages_for(request.held + n_tokens) - pages_for(request.held) + copied;
}

// Most tokens that the request can grow by within so many pages.
int64_t growth_within(const RunningRequest& request, int64_t pages) {
  if (request.tail == TailPage::kCopied) --pages;
  if (pages < 0) return 0;
  return (pages_for(request.held) + pages) * kPagePositions - request.held;
}

bool is_waiting(const PrefixWait& wait, std::span<const RunningRequest> running) {
  if (wait.slot < 0) return false;
  const RunningRequest& producer = running[static_cast<size_t>(wait.slot)];
  return producer.use != SlotUse::kFree && producer.claim.number == wait.number &&
         producer.held < wait.length;
}

}  // namespace

std::optional<int32_t> choose_victim(std::span<const RunningRequest> running) {
  const auto gives_way_before = [](const RunningRequest& a, const RunningRequest& b) {
    if (a.use != b.use) return a.use == SlotUse::kPaused;
    if (a.claim.priority != b.claim.priority) return a.claim.priority < b.claim.priority;
    return a.claim.number > b.claim.number;
  };
  std::optional<int32_t> victim;
  for (size_t slot = 0; slot < running.size(); ++slot) {
    if (running[slot].use == SlotUse::kFree) continue;
    if (!victim || gives_way_before(running[slot], running[static_cast<size_t>(*victim)]))
      victim = static_cast<int32_t>(slot);
  }
  return victim;
}

std::optional<int32_t> choose_paused(std::span<const RunningRequest> running) {
  const std::optional<int32_t> victim = choose_victim(running);
  return victim && running[static_cast<size_t>(*victim)].use == SlotUse::kPaused ? victim : std::nullopt;
}

bool spilling_is_cheaper(size_t bytes, int64_t positions, const StepCost& cost, double bytes_per_second) {
  const double recompute = static_cast<double>(positions) * cost.prompt_token(positions / 2);
  return bytes_per_second > 0 && 2 * static_cast<double>(bytes) / bytes_per_second < recompute;
}

bool has_room(const SchedulerState& state, const PageCounts& pages) {
  PageCounts all = state.owed;
  all += pages;
  return all.fits(state.available);
}

Priority level(const Claim& claim, const SchedulerState& state, const SchedulerLimits& limits) {
  const auto priority = static_cast<int64_t>(claim.priority);
  if (limits.ageing.count() <= 0) return claim.priority;
  const TenantState& tenant = state.tenants[static_cast<size_t>(claim.tenant)];
  const EngineTime since = std::max(claim.arrived, tenant.last_served[static_cast<size_t>(claim.priority)]);
  const int64_t risen = priority + std::max<int64_t>(0, (state.now - since) / limits.ageing);
  return static_cast<Priority>(std::min<int64_t>(risen, kPriorities - 1));
}

bool precedes(const Claim& a, const Claim& b, const SchedulerState& state, const SchedulerLimits& limits) {
  const Priority level_a = level(a, state, limits), level_b = level(b, state, limits);
  if (level_a != level_b) return level_a > level_b;
  const int64_t served_a = state.tenants[static_cast<size_t>(a.tenant)].served;
  const int64_t served_b = state.tenants[static_cast<size_t>(b.tenant)].served;
  if (a.tenant != b.tenant && served_a != served_b) return served_a < served_b;
  return a.number < b.number;
}

PromptBudget prompt_budget(int64_t n_streams, int64_t n_waiting, int64_t depth, const StepCost& cost,
                           const SchedulerLimits& limits) {
  const int64_t room = limits.max_batch_tokens - n_streams;
  const double per_token = cost.prompt_token(depth + kPromptCut / 2);
  if (n_streams == 0 || limits.max_token_gap.count() == 0 || per_token <= 0) return {room, room};
  const double alone = cost.fixed + cost.per_stream * static_cast<double>(n_streams);
  // Streams that alone come near the gap leave nothing of it to prompts, which still have to end: a busy
  // machine or a large model would otherwise crawl through them.
  const double gap = std::max(std::chrono::duration<double>(limits.max_token_gap).count(),
                              alone * std::sqrt(limits.max_stretch));
  const double crowd = static_cast<double>(n_waiting) / static_cast<double>(n_streams);
  const double stretched = std::min(gap, alone * limits.max_stretch * std::max(1.0, crowd));
  const auto within = [&](double seconds) {
    const double tokens = (seconds - alone) / per_token;
    const auto most = static_cast<int64_t>(std::min(tokens, static_cast<double>(room)));
    return std::min(std::max(most, kMinPromptTokens), room);
  };
  return {.whole = within(gap), .part = within(stretched)};
}

Scheduler::Scheduler(const SchedulerLimits& limits, int32_t max_sequences) : limits_(limits) {
  QUIRE_CHECK(limits.max_batch_tokens >= max_sequences);
  plan_.rows.reserve(static_cast<size_t>(max_sequences));
  prompts_.reserve(static_cast<size_t>(max_sequences));
}

std::optional<size_t> Scheduler::next_in_line(const SchedulerState& state) const {
  std::optional<size_t> first;
  for (size_t i = 0; i < state.queued.size(); ++i) {
    if (state.free_sequences == 0 && !state.queued[i].spilled) continue;
    if (state.queued[i].reader == Reader::kBehind) continue;
    if (is_waiting(state.queued[i].wait, state.running)) continue;
    if (!first || precedes(state.queued[i].claim, state.queued[*first].claim, state, limits_)) first = i;
  }
  return first;
}

const BatchPlan& Scheduler::plan(const SchedulerState& state) {
  plan_.rows.clear();
  plan_.n_streams = plan_.n_prompt_tokens = plan_.n_prompt_positions = 0;
  plan_.preempt.reset();
  int32_t pages_left = state.pages_left;
  plan_streams(state, pages_left);
  if (!plan_.preempt) plan_prompts(state, pages_left);
  return plan_;
}

void Scheduler::plan_streams(const SchedulerState& state, int32_t& pages_left) {
  for (size_t slot = 0; slot < state.running.size(); ++slot) {
    const RunningRequest& request = state.running[slot];
    if (request.use != SlotUse::kRuns || !request.decodes()) continue;
    pages_left -= static_cast<int32_t>(growth(request, 1));
    if (pages_left < 0) {
      plan_.rows.clear();
      plan_.n_streams = 0;
      plan_.preempt = choose_victim(state.running);
      return;
    }
    plan_.rows.push_back({.slot = static_cast<int32_t>(slot), .n_tokens = 1});
    ++plan_.n_streams;
  }
}

void Scheduler::plan_prompts(const SchedulerState& state, int32_t pages_left) {
  prompts_.clear();
  for (size_t slot = 0; slot < state.running.size(); ++slot) {
    const RunningRequest& request = state.running[slot];
    if (request.use == SlotUse::kRuns && request.known > request.held + 1)
      prompts_.push_back(static_cast<int32_t>(slot));
  }
  if (prompts_.empty()) return;
  const auto claim = [&](int32_t slot) -> const Claim& {
    return state.running[static_cast<size_t>(slot)].claim;
  };
  std::sort(prompts_.begin(), prompts_.end(),
            [&](int32_t a, int32_t b) { return precedes(claim(a), claim(b), state, limits_); });

  const auto n_waiting = static_cast<int64_t>(prompts_.size() + state.queued.size());
  const int64_t depth = state.running[static_cast<size_t>(prompts_.front())].held;
  PromptBudget budget = prompt_budget(plan_.n_streams, n_waiting, depth, state.cost, limits_);
  int64_t rows_left = limits_.max_prompt_rows;
  for (const int32_t slot : prompts_) {
    const RunningRequest& request = state.running[static_cast<size_t>(slot)];
    const int64_t missing = request.known - request.held;
    const bool whole = request.held == request.begin && missing <= budget.whole;
    const int64_t within = growth_within(request, pages_left);
    int64_t end = request.held + std::min({whole ? missing : budget.part, missing, within});
    if (request.rows == RowUse::kAll) end = std::min(end, request.held + 1 + rows_left);
    if (end < request.known && end / kPromptCut * kPromptCut > request.held)
      end = end / kPromptCut * kPromptCut;
    const int64_t n_tokens = end - request.held;
    if (n_tokens <= 0) continue;
    pages_left -= static_cast<int32_t>(growth(request, n_tokens));
    budget.whole -= n_tokens;
    budget.part = std::max<int64_t>(0, budget.part - n_tokens);
    if (request.rows == RowUse::kAll) rows_left -= n_tokens - 1;
    plan_.rows.push_back({.slot = slot, .n_tokens = n_tokens});
    plan_.n_prompt_tokens += n_tokens;
    plan_.n_prompt_positions += n_tokens * (2 * request.held + n_tokens - 1) / 2;
  }
  // Only prompts, and none of them finds a page: the pages are held by prompts that are all unfinished.
  if (plan_.rows.empty()) plan_.preempt = choose_victim(state.running);
}

}  // namespace quire

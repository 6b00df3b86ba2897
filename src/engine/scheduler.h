// Scheduler: who is let in, and who goes forward by how much in the next step.
//
// Pure: an answer depends on the state given and on nothing else, so that every rule is tested, and whole
// days of traffic simulated, without a model (docs/scheduling.md). Decoding comes first, one row for every
// stream; prompts share what is left of the step, cut so that no stream waits longer than it may. Whose turn
// it is follows from one order (precedes()): level, then the tenant that has been served least, then arrival.
// Owns the buffers of its answer, sized at construction; a call allocates nothing. One thread at a time.
//
//   Scheduler scheduler(limits, max_sequences);
//   auto next = scheduler.next_in_line(state);
//   if (next && has_room(state, pages)) ...                   // let state.queued[*next] in
//   const BatchPlan& plan = scheduler.plan(state);            // valid until the next call
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/step_cost.h"
#include "memory/page_counts.h"

namespace quire {

// Since the engine was started.
using EngineTime = std::chrono::microseconds;

enum class Priority : uint8_t { kLow, kNormal, kHigh };
inline constexpr size_t kPriorities = 3;

// What decides whose turn it is.
struct Claim {
  uint64_t number = 0;  // in the order of arrival
  int32_t tenant = 0;
  Priority priority = Priority::kNormal;
  EngineTime arrived{0};
};

// The weights of tenants, and what a token counts as for one of weight 1.
inline constexpr int32_t kMaxTenantWeight = 1000;
inline constexpr int64_t kServedUnit = 1000 * int64_t{kMaxTenantWeight};

struct TenantState {
  int64_t served = 0;  // tokens, prompts' and answers', each as kServedUnit over its request's weight
  std::array<EngineTime, kPriorities>
      last_served{};  // by priority: when one of its requests last went forward
};

// A prefix that a running request is computing: whoever needs it too waits.
struct PrefixWait {
  int32_t slot = -1;    // of that request; -1 = nobody
  uint64_t number = 0;  // its claim's: the slot may have changed hands
  int64_t length = 0;   // positions it holds when the wait is over
};

enum class Reader : uint8_t { kKeepsUp, kBehind };  // of an answer: whoever is behind, alone, waits

struct QueuedRequest {
  Claim claim = {};
  PrefixWait wait = {};
  Reader reader = Reader::kKeepsUp;
  bool spilled = false;  // it has a sequence already
};

enum class SlotUse : uint8_t { kFree, kRuns, kPaused };  // paused: its reader is behind
enum class TailPage : uint8_t { kOwn, kCopied };         // copied: appending takes one page more
enum class RowUse : uint8_t { kLast, kAll };             // which rows of a prompt need logits

struct RunningRequest {
  SlotUse use = SlotUse::kFree;
  TailPage tail = TailPage::kOwn;
  RowUse rows = RowUse::kLast;
  Claim claim = {};
  int64_t begin = 0;  // positions that were in memory when it was let in
  int64_t held = 0;   // positions in memory
  int64_t known = 0;  // tokens there are; held + 1 when only the next token is missing, above that a prompt

  bool decodes() const { return known == held + 1; }
};

struct SchedulerState {
  EngineTime now{0};
  std::span<const RunningRequest> running = {};  // by slot
  std::span<const QueuedRequest> queued = {};    // in any order
  std::span<const TenantState> tenants = {};
  int32_t free_sequences = 0;
  PageCounts available = {};  // pages that are free or cached
  PageCounts owed = {};       // of those, what running requests are still promised
  int32_t pages_left = 0;     // available in the group that has fewest
  StepCost cost = {};         // of steps so far
};

struct SchedulerLimits {
  int64_t max_batch_tokens = 512;  // of one step; at least one per sequence
  int64_t max_prompt_rows = 0;     // of logits in one step, beside one per sequence
  // A step with both streams and prompts takes at most this long (zero: no limit), and, with prompts that it
  // does not bring to their end at once, at most `max_stretch` times as long as the streams alone would, or
  // more in proportion where more prompts wait than streams run. Streams that alone take almost as long as
  // the gap, or longer, are stretched by the root of max_stretch all the same.
  EngineTime max_token_gap = std::chrono::milliseconds(100);
  double max_stretch = 2.7;
  // A tenant's requests of one priority rise by a level for every such time in which none of them went
  // forward.
  EngineTime ageing = std::chrono::seconds(10);
};

struct PlannedRows {
  int32_t slot = 0;
  int64_t n_tokens = 0;
};

struct BatchPlan {
  std::vector<PlannedRows> rows;   // streams first
  int64_t n_streams = 0;           // of the rows
  int64_t n_prompt_tokens = 0;     // of the others
  int64_t n_prompt_positions = 0;  // before each of these, in sum
  // When set nothing else is: pages have run out, and this slot must give its own back first.
  std::optional<int32_t> preempt;
};

// Prompts are cut at multiples of this many positions where that is possible: whole chunks of attention and
// full tiles of rows. It changes speed only.
inline constexpr int64_t kPromptCut = 64;
// Prompts get at least this many tokens of a step, so that they end however slow the machine is.
inline constexpr int64_t kMinPromptTokens = 16;

// The level a claim has risen to.
Priority level(const Claim& claim, const SchedulerState& state, const SchedulerLimits& limits);
// Whether it is a's turn before b's. A strict weak order.
bool precedes(const Claim& a, const Claim& b, const SchedulerState& state, const SchedulerLimits& limits);
// Tokens that prompts may take of a step.
struct PromptBudget {
  int64_t whole = 0;  // those that begin and end in it: each such step ends somebody's waiting
  int64_t part = 0;   // of these, the others
};
// Of a step with n_streams, when n_waiting prompts have not got their first token, and the first of them in
// order holds `depth` positions.
PromptBudget prompt_budget(int64_t n_streams, int64_t n_waiting, int64_t depth, const StepCost& cost,
                           const SchedulerLimits& limits);

// What becomes of the keys and values of a request that gives its pages back.
enum class Preemption : uint8_t {
  kCheaper,    // the cheaper of the two
  kRecompute,  // they are computed again
  kSpill,      // they are copied to the spill area and back, where that has room
};
// Whether copying so many bytes out and back takes less time than computing so many positions again.
bool spilling_is_cheaper(size_t bytes, int64_t positions, const StepCost& cost, double bytes_per_second);

// Whether so many pages are there beside those already promised.
bool has_room(const SchedulerState& state, const PageCounts& pages);
// Whose pages others get when there are too few: the youngest of those with the least priority, first of all
// of those whose reader is behind. The oldest of the others therefore always comes through.
std::optional<int32_t> choose_victim(std::span<const RunningRequest> running);
// Whose place those get who wait for one: the same, if its reader is behind.
std::optional<int32_t> choose_paused(std::span<const RunningRequest> running);

class Scheduler {
 public:
  Scheduler(const SchedulerLimits& limits, int32_t max_sequences);

  const SchedulerLimits& limits() const { return limits_; }

  // Index of the queued request that is let in next, when there is a sequence for it: the first in order. If
  // its pages are not there nobody overtakes it for being smaller. Requests that wait for a prefix or for
  // their reader are passed over, and, while no sequence is free, all but those that have one.
  std::optional<size_t> next_in_line(const SchedulerState& state) const;

  const BatchPlan& plan(const SchedulerState& state);

 private:
  void plan_streams(const SchedulerState& state, int32_t& pages_left);
  void plan_prompts(const SchedulerState& state, int32_t pages_left);

  SchedulerLimits limits_;
  BatchPlan plan_;
  std::vector<int32_t> prompts_;  // slots, in order
};

}  // namespace quire

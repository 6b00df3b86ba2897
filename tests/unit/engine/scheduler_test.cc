// The scheduler's rules one by one, on states written out by hand: no model, no memory.
#include "engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

MATCHER_P2(Rows, slot, n_tokens, "") { return arg.slot == slot && arg.n_tokens == n_tokens; }

// A state that tests fill in; views point into it.
struct Scene {
  std::vector<RunningRequest> running = std::vector<RunningRequest>(8);
  std::vector<QueuedRequest> queued;
  std::vector<TenantState> tenants = std::vector<TenantState>(3);
  SchedulerLimits limits;
  int32_t free_sequences = 8;
  int32_t pages = 1000;
  PageCounts owed;
  StepCost cost;
  EngineTime now{0};
  uint64_t number = 0;

  SchedulerState state() const {
    SchedulerState state{.now = now,
                         .running = running,
                         .queued = queued,
                         .tenants = tenants,
                         .free_sequences = free_sequences,
                         .owed = owed,
                         .pages_left = pages,
                         .cost = cost};
    state.available.groups[0] = pages;
    return state;
  }
  RunningRequest& run(size_t slot, int64_t held, int64_t known) {
    running[slot] = {.use = SlotUse::kRuns, .claim = {.number = ++number}, .held = held, .known = known};
    return running[slot];
  }
  QueuedRequest& queue(int32_t tenant = 0, Priority priority = Priority::kNormal) {
    return queued.emplace_back(
        QueuedRequest{.claim = {.number = ++number, .tenant = tenant, .priority = priority, .arrived = now}});
  }
  bool room_for(int32_t n_pages) const {
    PageCounts wanted;
    wanted.groups[0] = n_pages;
    return has_room(state(), wanted);
  }
  BatchPlan plan() const {
    Scheduler scheduler(limits, static_cast<int32_t>(running.size()));
    return scheduler.plan(state());
  }
  std::optional<size_t> next() const {
    return Scheduler(limits, static_cast<int32_t>(running.size())).next_in_line(state());
  }
};

// --- Steps ---

TEST(SchedulerPlan, IsEmptyWhenNothingRuns) {
  const BatchPlan plan = Scene().plan();
  EXPECT_TRUE(plan.rows.empty());
  EXPECT_FALSE(plan.preempt.has_value());
}

TEST(SchedulerPlan, EveryStreamGetsItsRowBeforeAnyPrompt) {
  Scene scene;
  scene.limits.max_batch_tokens = 34;
  scene.run(0, 0, 100);
  scene.run(3, 20, 21);
  scene.run(5, 7, 8);
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(3, 1), Rows(5, 1), Rows(0, 32)));
}

TEST(SchedulerPlan, PromptsThatAreReadShareTheRowsOfLogits) {
  Scene scene;
  scene.limits.max_prompt_rows = 30;
  scene.run(0, 0, 25).rows = RowUse::kAll;
  scene.run(1, 0, 40).rows = RowUse::kAll;
  scene.run(2, 0, 40).rows = RowUse::kAll;
  scene.run(3, 0, 40);
  // One row each, and thirty beside.
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 25), Rows(1, 7), Rows(2, 1), Rows(3, 40)));
}

TEST(SchedulerPlan, PromptsFillTheStepInOrderOfArrival) {
  Scene scene;
  scene.limits.max_batch_tokens = 100;
  scene.run(2, 0, 30);
  scene.run(0, 0, 40);
  scene.run(1, 0, 500);
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(2, 30), Rows(0, 40), Rows(1, 30)));
}

TEST(SchedulerPlan, PromptsAreCutAtMultiplesOf64WhereThatIsPossible) {
  Scene scene;
  scene.limits.max_batch_tokens = 100;
  scene.run(0, 0, 1000);
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 64)));
  scene.running[0].held = 30;
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 98)));  // to 128
  scene.running[0].held = 960;
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 40)));  // its end
  scene.running[0].held = 0;
  scene.limits.max_batch_tokens = 20;
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 20)));  // no multiple within reach
}

TEST(SchedulerPlan, ShortPromptsAreComputedWholeWhereLongOnesAreCut) {
  Scene scene;
  scene.cost = {.fixed = 0.010, .per_stream = 0.001, .per_prompt_token = 0.001};
  scene.limits = {.max_token_gap = milliseconds(100), .max_stretch = 3};
  for (const size_t stream : {0, 1, 2, 3}) scene.run(stream, 20, 21);
  scene.run(4, 0, 500);  // 42 ms in all
  scene.run(5, 0, 40);   // 82 ms in all
  scene.run(6, 0, 40);   // would be more than the gap
  const auto prompts = [&] {
    const BatchPlan plan = scene.plan();
    return std::vector<PlannedRows>(plan.rows.begin() + plan.n_streams, plan.rows.end());
  };
  EXPECT_THAT(prompts(), ElementsAre(Rows(4, 28), Rows(5, 40)));
  scene.running[4].held = 460;  // what was cut before stays long
  EXPECT_THAT(prompts(), ElementsAre(Rows(4, 28), Rows(5, 40)));
}

TEST(SchedulerPlan, APausedStreamStandsStillAlone) {
  Scene scene;
  scene.run(0, 20, 21).use = SlotUse::kPaused;
  scene.run(1, 20, 21);
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(1, 1)));
}

TEST(SchedulerPlan, StreamsThatNeedAPageTakeItFromTheYoungest) {
  Scene scene;
  scene.pages = 1;
  scene.run(0, 32, 33);  // each needs a page
  scene.run(1, 48, 49);
  scene.run(2, 5, 6);  // needs none
  const BatchPlan plan = scene.plan();
  EXPECT_EQ(plan.preempt, 2);
  EXPECT_TRUE(plan.rows.empty());
}

TEST(SchedulerPlan, WhoseReaderIsBehindGivesItsPagesFirst) {
  Scene scene;
  scene.pages = 0;
  RunningRequest& paused = scene.run(2, 5, 6);
  paused.use = SlotUse::kPaused;
  paused.claim.priority = Priority::kHigh;
  scene.run(0, 32, 33);  // needs a page
  scene.run(1, 5, 6);
  EXPECT_EQ(scene.plan().preempt, 2);
}

TEST(SchedulerPlan, AHighPriorityOutlivesAnOlderLowOneWhenPagesRunOut) {
  Scene scene;
  scene.pages = 0;
  scene.run(0, 32, 33).claim.priority = Priority::kLow;
  scene.run(1, 48, 49).claim.priority = Priority::kHigh;
  EXPECT_EQ(scene.plan().preempt, 0);
}

TEST(SchedulerPlan, APromptStopsWhereThePagesEnd) {
  Scene scene;
  scene.pages = 3;
  scene.run(0, 32, 33);  // takes one
  scene.run(1, 0, 200);
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 1), Rows(1, 32)));
}

TEST(SchedulerPlan, ACopiedTailCostsAPageMore) {
  Scene scene;
  scene.pages = 2;
  scene.run(0, 20, 200).tail = TailPage::kCopied;
  EXPECT_THAT(scene.plan().rows, ElementsAre(Rows(0, 28)));  // to 48: one page, and one for the copy
  scene.pages = 0;
  EXPECT_EQ(scene.plan().preempt, 0);
}

TEST(SchedulerPlan, UnfinishedPromptsThatHoldAllPagesGiveWay) {
  Scene scene;
  scene.pages = 0;
  scene.run(0, 64, 200);
  scene.run(1, 64, 200);
  EXPECT_EQ(scene.plan().preempt, 1);
}

// --- Prompts beside streams ---

TEST(PromptBudget, IsTheWholeStepWithoutStreamsOrWithoutALimit) {
  const StepCost cost = {.fixed = 0.01, .per_stream = 0.001, .per_prompt_token = 0.001};
  EXPECT_EQ(prompt_budget(0, 1, 0, cost, {.max_batch_tokens = 512}).part, 512);
  EXPECT_EQ(prompt_budget(12, 1, 0, cost, {.max_batch_tokens = 512, .max_token_gap = milliseconds(0)}).part,
            500);
}

TEST(PromptBudget, KeepsTheStepWithinTheGap) {
  const StepCost cost = {.fixed = 0.05, .per_stream = 0.001, .per_prompt_token = 0.001};
  const SchedulerLimits limits = {.max_batch_tokens = 512, .max_token_gap = milliseconds(100)};
  EXPECT_EQ(prompt_budget(10, 1, 0, cost, limits).part, 40);  // 50 + 10 + 40 ms
}

TEST(PromptBudget, KeepsTheStepWithinAMultipleOfTheStreamsAlone) {
  const StepCost cost = {.fixed = 0.01, .per_stream = 0.001, .per_prompt_token = 0.0001};
  const SchedulerLimits limits = {.max_batch_tokens = 512, .max_stretch = 2.5};
  EXPECT_EQ(prompt_budget(10, 1, 0, cost, limits).part, 300);                       // 20 ms alone, 30 ms more
  EXPECT_EQ(prompt_budget(10, 1, 0, cost, {.max_batch_tokens = 1000}).whole, 800);  // 20 ms alone, 80 ms more
}

TEST(PromptBudget, StreamsGiveWayWhereMorePromptsWait) {
  const StepCost cost = {.fixed = 0.01, .per_stream = 0.001, .per_prompt_token = 0.0001};
  const SchedulerLimits limits = {.max_batch_tokens = 1000, .max_stretch = 2.5};
  EXPECT_NEAR(static_cast<double>(prompt_budget(10, 10, 0, cost, limits).part), 300, 1);
  EXPECT_NEAR(static_cast<double>(prompt_budget(10, 15, 0, cost, limits).part), 550, 1);  // 75 ms in all
  EXPECT_NEAR(static_cast<double>(prompt_budget(10, 90, 0, cost, limits).part), 800,
              1);  // and never more than the gap
}

TEST(PromptBudget, IsSmallerDeepInAPrompt) {
  const StepCost cost = {.fixed = 0.05, .per_prompt_token = 0.0005, .per_position = 1e-6};
  const SchedulerLimits limits = {.max_token_gap = milliseconds(100), .max_stretch = 4};
  EXPECT_NEAR(static_cast<double>(prompt_budget(1, 1, 0, cost, limits).part), 100, 7);
  EXPECT_NEAR(static_cast<double>(prompt_budget(1, 1, 1500, cost, limits).part), 25, 1);
}

// Streams that take longer than the gap by themselves: it cannot be kept, and prompts get their share of
// time.
TEST(PromptBudget, KeepsPromptsGoingBesideStreamsThatAloneTakeLongerThanTheGap) {
  const StepCost slow = {.fixed = 0.022, .per_stream = 0.002, .per_prompt_token = 0.001};  // 150 ms alone
  const PromptBudget budget = prompt_budget(64, 1, 0, slow, {.max_batch_tokens = 512});
  EXPECT_EQ(budget.part, 96);
  EXPECT_EQ(budget.whole, 96);
  EXPECT_EQ(prompt_budget(64, 200, 0, slow, {.max_batch_tokens = 512}).part, 96);  // however many wait
  // Up to there the gap is kept: nothing jumps where streams reach it.
  const StepCost near = {.fixed = 0.099, .per_prompt_token = 0.001};
  EXPECT_EQ(prompt_budget(1, 1, 0, near, {.max_batch_tokens = 512}).part, 63);
}

TEST(PromptBudget, NeverStopsPromptsForGood) {
  const StepCost dear = {.fixed = 1, .per_stream = 1, .per_prompt_token = 1};  // 18 s, of which 7 are theirs
  EXPECT_EQ(prompt_budget(10, 1, 0, dear, {.max_batch_tokens = 512}).part, kMinPromptTokens);
  EXPECT_EQ(prompt_budget(10, 1, 0, dear, {.max_batch_tokens = 14}).part, 4);
}

// --- Preemption ---

TEST(SchedulerPreemption, SpillsWhereCopyingTwiceIsCheaperThanComputing) {
  const StepCost cost{.per_prompt_token = 0.001};
  EXPECT_TRUE(spilling_is_cheaper(4'000'000, 10, cost, 1e9));   // 8 ms against 10
  EXPECT_FALSE(spilling_is_cheaper(6'000'000, 10, cost, 1e9));  // 12 ms
  EXPECT_FALSE(spilling_is_cheaper(4'000'000, 7, cost, 1e9));   // against 7
  EXPECT_FALSE(spilling_is_cheaper(1, 10, cost, 0));            // nobody knows
  EXPECT_FALSE(spilling_is_cheaper(1, 10, StepCost{}, 1e9));
}

// --- Order ---

TEST(SchedulerOrder, ServesTenantsInTurnByTokens) {
  Scene scene;
  scene.tenants[0].served = 1000;
  scene.tenants[1].served = 10;
  scene.queue(0);
  scene.queue(0);
  scene.queue(1);
  EXPECT_EQ(scene.next(), 2u);
  scene.tenants[1].served = 1001;
  EXPECT_EQ(scene.next(), 0u);
}

TEST(SchedulerOrder, AHigherPriorityGoesFirst) {
  Scene scene;
  scene.queue(0, Priority::kLow);
  scene.queue(0, Priority::kNormal);
  scene.queue(1, Priority::kHigh);
  scene.tenants[1].served = 1000000;
  EXPECT_EQ(scene.next(), 2u);
}

TEST(SchedulerOrder, AWaitingRequestRisesUntilItIsServed) {
  Scene scene;
  scene.limits.ageing = seconds(10);
  scene.queue(0, Priority::kLow);
  scene.now = seconds(19);
  scene.queue(0, Priority::kHigh);
  EXPECT_EQ(scene.next(), 1u);
  scene.now = seconds(20);  // low has waited two times ten seconds
  EXPECT_EQ(scene.next(), 0u);
  scene.tenants[0].last_served[0] = seconds(15);  // another low one went forward since
  EXPECT_EQ(scene.next(), 1u);
}

// --- Admission ---

TEST(SchedulerAdmission, NeedsASequenceAndPagesBesideThosePromised) {
  Scene scene;
  scene.queue();
  EXPECT_EQ(scene.next(), 0u);
  scene.pages = 15;
  scene.owed.groups[0] = 6;
  EXPECT_FALSE(scene.room_for(10));
  scene.owed.groups[0] = 5;
  EXPECT_TRUE(scene.room_for(10));
  scene.free_sequences = 0;
  EXPECT_EQ(scene.next(), std::nullopt);
  scene.queue().spilled = true;  // brings its own
  EXPECT_EQ(scene.next(), 1u);
}

TEST(SchedulerAdmission, WhoWaitsForItsReaderIsPassedOver) {
  Scene scene;
  scene.queue().reader = Reader::kBehind;
  EXPECT_EQ(scene.next(), std::nullopt);
  scene.queue();
  EXPECT_EQ(scene.next(), 1u);
}

TEST(SchedulerAdmission, WhoWaitsForAPrefixIsPassedOverUntilItIsThereOrItsProducerIsGone) {
  Scene scene;
  const uint64_t producer = scene.run(4, 0, 200).claim.number;
  scene.queue().wait = {.slot = 4, .number = producer, .length = 128};
  scene.queue();
  EXPECT_EQ(scene.next(), 1u);
  scene.running[4].held = 128;
  EXPECT_EQ(scene.next(), 0u);
  scene.run(4, 0, 50);  // the slot has changed hands
  EXPECT_EQ(scene.next(), 0u);
  scene.running[4] = {};
  EXPECT_EQ(scene.next(), 0u);
}

}  // namespace
}  // namespace quire

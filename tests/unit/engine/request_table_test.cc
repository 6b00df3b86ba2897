// The table of requests over a real, dry memory: sharing, preemption, fairness, and a long random run in
// which everything must end exactly once.
#include "engine/request_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "table_driver.h"

namespace quire {
namespace {

using testing::DriverConfig;
using testing::TableDriver;

std::vector<int32_t> tokens(int32_t first, size_t n) {
  std::vector<int32_t> ids(n);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

void expect_all_pages_back(TableDriver& driver) {
  const MemoryGauges gauges = driver.memory().gauges();
  for (int32_t g = 0; g < gauges.n_groups; ++g) {
    EXPECT_EQ(gauges.groups[static_cast<size_t>(g)].held, 0);
    EXPECT_EQ(gauges.groups[static_cast<size_t>(g)].spilled, 0);
  }
  const Status checked = driver.memory().check();
  EXPECT_TRUE(checked.ok()) << (checked.ok() ? "" : checked.error().message);
}

TEST(RequestTable, RunsARequestFromItsPromptToItsLastToken) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 64}}});
  LiveRequest& request = driver.add(tokens(0, 100), 5);
  driver.finish(10);
  EXPECT_EQ(request.tokens.size(), 105u);
  EXPECT_EQ(request.n_reused, 0);
  EXPECT_EQ(driver.table().counters().steps, 6);  // 64 + 36, then four more tokens
  EXPECT_EQ(driver.table().counters().chunked_prompts, 1);
  expect_all_pages_back(driver);
}

TEST(RequestTable, APrefixWantedByManyAtOnceIsComputedOnce) {
  DriverConfig config{.table = {.limits = {.max_batch_tokens = 128}, .max_sequences = 16}, .n_pages = 512};
  for (const PrefixCache cache : {PrefixCache::kOn, PrefixCache::kOff}) {
    config.prefix_cache = cache;
    TableDriver driver(config);
    for (int32_t i = 0; i < 16; ++i) {
      std::vector<int32_t> prompt = tokens(0, 256);
      const std::vector<int32_t> own = tokens(1000 + 100 * i, 32);
      prompt.insert(prompt.end(), own.begin(), own.end());
      driver.add(std::move(prompt), 8);
    }
    driver.finish(200);
    const ScheduleCounters& counters = driver.table().counters();
    if (cache == PrefixCache::kOn) {
      EXPECT_EQ(counters.prompt_tokens + counters.stream_rows, 256 + 16 * (32 + 7));
      EXPECT_EQ(counters.prefix_waits, 15);
    } else {
      EXPECT_EQ(counters.prompt_tokens + counters.stream_rows, 16 * (256 + 32 + 7));
      EXPECT_EQ(counters.prefix_waits, 0);
    }
    expect_all_pages_back(driver);
  }
}

TEST(RequestTable, AWaiterGoesOnWhenTheProducerOfItsPrefixEnds) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 4}});
  LiveRequest& producer = driver.add(tokens(0, 300), 4);
  LiveRequest& waiter = driver.add(tokens(0, 310), 4);
  driver.step();
  EXPECT_EQ(producer.place, LiveRequest::Place::kSlot);
  EXPECT_EQ(waiter.place, LiveRequest::Place::kQueue);
  driver.remove(producer);  // cancelled after 64 of its tokens
  driver.finish(50);
  EXPECT_EQ(waiter.tokens.size(), 314u);
  EXPECT_EQ(waiter.n_reused, 64);
  expect_all_pages_back(driver);
}

TEST(RequestTable, TheYoungestGivesItsPagesUpAndComesBack) {
  // Two answers of 200 tokens do not fit 20 pages at once, though both prompts with their reserve do.
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 2, .decode_reserve = 16},
                      .n_pages = 20});
  LiveRequest& older = driver.add(tokens(0, 40), 200);
  LiveRequest& younger = driver.add(tokens(1000, 40), 200);
  driver.finish(1000);
  EXPECT_EQ(older.n_admitted, 1);
  EXPECT_GT(younger.n_admitted, 1);
  EXPECT_GT(driver.table().counters().preemptions, 0);
  EXPECT_EQ(older.tokens.size(), 240u);
  EXPECT_EQ(younger.tokens.size(), 240u);
  expect_all_pages_back(driver);
}

struct Pool {
  int32_t pages = 0, spilled = 0;
};

// Sequences in a pool too small for all their answers; who has to wait is spilled.
DriverConfig spilling(int32_t max_sequences, const Pool& pool) {
  return {.table = {.limits = {.max_batch_tokens = 64},
                    .max_sequences = max_sequences,
                    .decode_reserve = 16,
                    .preemption = Preemption::kSpill},
          .n_pages = pool.pages,
          .n_spill_pages = pool.spilled};
}

TEST(RequestTable, WhatIsSpilledComesBackAndIsNotComputedAgain) {
  TableDriver driver(spilling(2, {.pages = 20, .spilled = 20}));
  const LiveRequest& older = driver.add(tokens(0, 40), 200);
  const LiveRequest& younger = driver.add(tokens(1000, 40), 200);
  driver.finish(1000);
  const ScheduleCounters& counters = driver.table().counters();
  EXPECT_EQ(older.n_preempted, 0);
  EXPECT_GT(younger.n_preempted, 0);
  EXPECT_EQ(counters.spills, younger.n_preempted);
  EXPECT_EQ(driver.memory().gauges().restores, counters.spills);
  EXPECT_EQ(counters.recomputed_tokens, 0);
  EXPECT_EQ(counters.prompt_tokens, 80);
  EXPECT_EQ(younger.tokens.size(), 240u);
  expect_all_pages_back(driver);
}

TEST(RequestTable, WhatIsSpilledCanBeCancelled) {
  TableDriver driver(spilling(2, {.pages = 20, .spilled = 20}));
  driver.add(tokens(0, 40), 200);
  LiveRequest& younger = driver.add(tokens(1000, 40), 200);
  while (driver.table().counters().spills == 0) driver.step();
  EXPECT_EQ(younger.place, LiveRequest::Place::kQueue);
  driver.remove(younger);
  LiveRequest& next = driver.add(tokens(2000, 40), 4);  // there is a sequence for it
  driver.finish(1000);
  EXPECT_EQ(next.tokens.size(), 44u);
  expect_all_pages_back(driver);
}

// An area of eleven pages: the second to be preempted does not fit beside the first.
TEST(RequestTable, WhatDoesNotFitTheSpillAreaIsComputedAgain) {
  TableDriver driver(spilling(3, {.pages = 24, .spilled = 11}));
  for (int32_t i = 0; i < 3; ++i) driver.add(tokens(1000 * i, 40), 200);
  driver.finish(2000);
  const ScheduleCounters& counters = driver.table().counters();
  EXPECT_GT(counters.spills, 0);
  EXPECT_GT(counters.preemptions, counters.spills);
  for (const LiveRequest& request : driver.requests()) EXPECT_EQ(request.tokens.size(), 240u);
  expect_all_pages_back(driver);
}

// A prefix of 16 pages and eight requests with three pages of their own: all run at once in exactly as many
// pages, and in one less the last waits.
TEST(RequestTable, SharedPagesAreCountedOnce) {
  for (const int32_t n_pages : {16 + 8 * 3, 16 + 8 * 3 - 1}) {
    TableDriver driver(
        {.table = {.limits = {.max_batch_tokens = 256}, .max_sequences = 8}, .n_pages = n_pages});
    for (int32_t i = 0; i < 8; ++i) {
      std::vector<int32_t> prompt = tokens(0, 256);
      const std::vector<int32_t> own = tokens(1000 + 100 * i, 32);
      prompt.insert(prompt.end(), own.begin(), own.end());
      driver.add(std::move(prompt), 16);
    }
    driver.step();  // the prefix
    driver.step();
    EXPECT_EQ(driver.table().n_running(), n_pages == 40 ? 8 : 7);
    driver.finish(100);
    EXPECT_EQ(driver.table().counters().preemptions, 0);
    EXPECT_EQ(driver.memory().gauges().positions_shared, 7 * 256);
    expect_all_pages_back(driver);
  }
}

TEST(RequestTable, NobodyOvertakesALargeRequestForBeingSmall) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 4}, .n_pages = 20});
  driver.add(tokens(0, 100), 100);
  driver.step();
  const LiveRequest& large = driver.add(tokens(1000, 200), 4);
  const LiveRequest& small = driver.add(tokens(2000, 10), 4);
  driver.step();
  EXPECT_EQ(large.place, LiveRequest::Place::kQueue);
  EXPECT_EQ(small.place, LiveRequest::Place::kQueue);
  driver.finish(1000);
}

int n_hashes = 0;
uint64_t counting_hash(const void* bytes, size_t n_bytes) {
  ++n_hashes;
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < n_bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  return hash;
}

// What it would share is in memory, so that looking it up takes a hash for each of its twenty pages.
TEST(RequestTable, WhoWaitsForPagesIsNotLookedUpInEveryStep) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 512}, .max_sequences = 4},
                      .n_pages = 40,
                      .prefix_hash = counting_hash});
  driver.add(tokens(0, 321), 1);
  driver.finish(10);
  driver.add(tokens(5000, 300), 100);
  driver.step();
  const LiveRequest& waits = driver.add(tokens(0, 330), 50);
  driver.step();
  ASSERT_EQ(waits.place, LiveRequest::Place::kQueue);
  n_hashes = 0;
  for (int i = 0; i < 60; ++i) driver.step();
  EXPECT_EQ(waits.place, LiveRequest::Place::kQueue);
  EXPECT_LT(n_hashes, 10);  // for the stream's full pages
  driver.finish(200);
  EXPECT_EQ(waits.tokens.size(), 380u);
  expect_all_pages_back(driver);
}

// One sequence: who waits for it gets it from a stream whose reader is behind, which waits in the queue until
// the reader has caught up.
TEST(RequestTable, AStreamWhoseReaderIsBehindGivesItsPlaceToWhoWaits) {
  TableDriver driver(
      {.table = {.limits = {.max_batch_tokens = 64}, .preemption = Preemption::kSpill}, .n_spill_pages = 64});
  LiveRequest& slow = driver.add(tokens(0, 40), 100);
  for (int i = 0; i < 10; ++i) driver.step();
  driver.table().set_reader(slow, Reader::kBehind);
  EXPECT_EQ(driver.step(), 0);
  EXPECT_EQ(slow.place, LiveRequest::Place::kSlot);  // as long as nobody wants it
  const LiveRequest& other = driver.add(tokens(1000, 40), 20);
  for (int i = 0; i < 30; ++i) driver.step();
  EXPECT_EQ(other.tokens.size(), 60u);
  EXPECT_EQ(slow.place, LiveRequest::Place::kQueue);
  EXPECT_EQ(slow.n_preempted, 1);
  EXPECT_EQ(driver.table().counters().spills, 0);  // its sequence is what was needed
  driver.table().set_reader(slow, Reader::kKeepsUp);
  driver.finish(200);
  EXPECT_EQ(slow.tokens.size(), 140u);
  expect_all_pages_back(driver);
}

// Sequences enough, and pages for one of the two.
TEST(RequestTable, AStreamWhoseReaderIsBehindGivesItsPagesToWhoWaits) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 256}, .max_sequences = 4}, .n_pages = 20});
  LiveRequest& slow = driver.add(tokens(0, 150), 100);
  for (int i = 0; i < 10; ++i) driver.step();
  driver.table().set_reader(slow, Reader::kBehind);
  const LiveRequest& other = driver.add(tokens(1000, 150), 20);
  for (int i = 0; i < 30; ++i) driver.step();
  EXPECT_EQ(other.tokens.size(), 170u);
  driver.table().set_reader(slow, Reader::kKeepsUp);
  driver.finish(200);
  EXPECT_EQ(slow.tokens.size(), 250u);
  expect_all_pages_back(driver);
}

TEST(RequestTable, AFloodByOneTenantDoesNotHoldUpAnother) {
  TableDriver driver(
      {.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 2, .n_tenants = 2}, .n_pages = 128});
  for (int32_t i = 0; i < 100; ++i) driver.add(tokens(1000 * i, 64), 16, 0);
  for (int i = 0; i < 50; ++i) driver.step();
  LiveRequest& other = driver.add(tokens(500000, 64), 16, 1);
  int steps = 0;
  while (other.place != LiveRequest::Place::kNowhere && steps < 1000) {
    driver.step();
    ++steps;
  }
  EXPECT_LT(steps, 45);  // one answer of those running, and its own
}

// A request of high priority arrives in every step, more than can be served; one that is low waits for two
// levels and for a place.
TEST(RequestTable, ALowRequestComesThroughAFloodOfHighOnes) {
  using std::chrono::milliseconds;
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 64, .ageing = milliseconds(200)},
                                .max_sequences = 2,
                                .max_queued = 1000},
                      .n_pages = 128});
  int32_t n = 0;
  for (; n < 4; ++n) driver.add(tokens(100 * n, 64), 16, 0, Priority::kHigh);
  const LiveRequest& low = driver.add(tokens(700000, 64), 16, 0, Priority::kLow);
  for (; low.n_admitted == 0 && n < 900; ++n) {
    driver.add(tokens(100 * n, 64), 16, 0, Priority::kHigh);
    driver.step();
  }
  EXPECT_GT(driver.now(), milliseconds(300));  // not at once
  EXPECT_LT(driver.now(), milliseconds(700));  // 2 x 200, and the end of an answer
  EXPECT_GT(driver.table().n_queued(), 10);
}

TEST(RequestTable, TwoTenantsThatBothWaitAreServedEqually) {
  TableDriver driver(
      {.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 4, .n_tenants = 2}, .n_pages = 128});
  for (int32_t i = 0; i < 60; ++i) driver.add(tokens(1000 * i, 100), 10, 0);       // many long prompts
  for (int32_t i = 0; i < 60; ++i) driver.add(tokens(1000 * i + 500, 20), 30, 1);  // later, and short ones
  for (int i = 0; i < 400; ++i) driver.step();
  const SchedulerState state = driver.table().state(driver.now());
  EXPECT_FALSE(driver.table().empty());
  const auto a = static_cast<double>(state.tenants[0].served),
             b = static_cast<double>(state.tenants[1].served);
  EXPECT_NEAR(a / b, 1.0, 0.15);
}

TEST(RequestTable, ATenantOfThriceTheWeightIsServedThriceAsMuch) {
  TableDriver driver(
      {.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 4, .n_tenants = 2}, .n_pages = 128});
  std::array<std::vector<const LiveRequest*>, 2> of_tenant;
  for (int32_t i = 0; i < 240; ++i) {
    const int32_t tenant = i % 2;
    LiveRequest& request = driver.add(tokens(1000 * i, 30), 10, tenant);
    request.weight = tenant == 0 ? 3 : 1;
    of_tenant[static_cast<size_t>(tenant)].push_back(&request);
  }
  for (int i = 0; i < 300; ++i) driver.step();
  const auto let_in = [](const std::vector<const LiveRequest*>& requests) {
    return std::ranges::count_if(requests, [](const LiveRequest* r) { return r->n_admitted > 0; });
  };
  const auto heavy = static_cast<double>(let_in(of_tenant[0])),
             light = static_cast<double>(let_in(of_tenant[1]));
  EXPECT_GT(light, 10);
  EXPECT_LT(heavy, 120);
  EXPECT_NEAR(heavy / light, 3.0, 0.3);
}

TEST(RequestTable, HavingHadAllToOneselfIsNoDebt) {
  TableDriver driver(
      {.table = {.limits = {.max_batch_tokens = 64}, .max_sequences = 1, .n_tenants = 2}, .n_pages = 128});
  for (int32_t i = 0; i < 20; ++i) driver.add(tokens(1000 * i, 30), 10, 0);
  driver.finish(1000);
  std::vector<const LiveRequest*> of_first;
  for (int32_t i = 20; i < 60; ++i) {
    const LiveRequest& request = driver.add(tokens(1000 * i, 30), 10, i % 2);
    if (i % 2 == 0) of_first.push_back(&request);
  }
  for (int i = 0; i < 200; ++i) driver.step();
  const auto let_in = std::ranges::count_if(of_first, [](const LiveRequest* r) { return r->n_admitted > 0; });
  EXPECT_NEAR(static_cast<double>(let_in), 9, 2);
}

TEST(RequestTable, KnowsTheLongestSequenceThatFits) {
  TableDriver driver({.n_pages = 10, .max_positions = 4096});
  EXPECT_EQ(RequestTable::longest_sequence(driver.memory(), 4096), 160);
  EXPECT_EQ(RequestTable::longest_sequence(driver.memory(), 100), 100);
}

struct Surroundings {
  const char* name;
  std::vector<int32_t> windows;
  int32_t n_spill_pages;
};

class RandomTraffic : public ::testing::TestWithParam<Surroundings> {};

// Requests with common beginnings, of all priorities, of several tenants, a fifth of them cancelled at any
// time, in a pool far too small for them.
TEST_P(RandomTraffic, EndsEveryRequestExactlyOnce) {
  TableDriver driver({.table = {.limits = {.max_batch_tokens = 96},
                                .max_sequences = 8,
                                .max_queued = 64,
                                .n_tenants = 3,
                                .decode_reserve = 8,
                                .preemption = Preemption::kSpill},
                      .n_pages = 40,
                      .n_spill_pages = GetParam().n_spill_pages,
                      .max_positions = 400,
                      .windows = GetParam().windows});
  const int64_t longest = RequestTable::longest_sequence(driver.memory(), 400);
  std::mt19937 random(11);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  constexpr int64_t kRequests = 3000;
  int64_t n_cancelled = 0;
  while (driver.n_ended() < kRequests) {
    const auto n_added = static_cast<int64_t>(driver.requests().size());
    if (n_added < kRequests && driver.table().n_queued() < 64 && below(3) == 0) {
      std::vector<int32_t> prompt = tokens(0, static_cast<size_t>(below(150)));
      const std::vector<int32_t> own =
          tokens(static_cast<int32_t>(1000 * below(20)), static_cast<size_t>(1 + below(100)));
      prompt.insert(prompt.end(), own.begin(), own.end());
      const int64_t room = longest - static_cast<int64_t>(prompt.size());
      driver.add(std::move(prompt), 1 + below(std::min<int64_t>(room, 120)), static_cast<int32_t>(below(3)),
                 static_cast<Priority>(below(3)));
    }
    if (below(12) == 0) {
      const auto live = [&](const LiveRequest& request) { return request.claim.number % 5 == 0; };
      if (LiveRequest* request = driver.table().find(live)) {
        driver.remove(*request);
        ++n_cancelled;
      }
    }
    if (driver.step() == 0) {
      ASSERT_TRUE(driver.table().empty()) << "nothing goes forward";
    }
    if (below(50) == 0) ASSERT_TRUE(driver.memory().check().ok());
  }
  EXPECT_EQ(driver.n_ended(), kRequests);
  EXPECT_GT(n_cancelled, 100);
  EXPECT_GT(driver.table().counters().preemptions, 100);
  EXPECT_GT(driver.table().counters().prefix_waits, 10);
  EXPECT_EQ(driver.table().counters().spills > 0, GetParam().n_spill_pages > 0);
  expect_all_pages_back(driver);
}

INSTANTIATE_TEST_SUITE_P(Needs, RandomTraffic,
                         ::testing::Values(Surroundings{"Full", {0}, 0}, Surroundings{"Windowed", {0, 64}, 0},
                                           Surroundings{"Spilling", {0}, 30},
                                           Surroundings{"SpillingWindows", {0, 64}, 30}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace quire

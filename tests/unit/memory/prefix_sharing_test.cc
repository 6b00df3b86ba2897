// What sequences share, and that sharing is never written to.
#include <gmock/gmock.h>

#include "unit/memory/memory_case.h"

namespace quire {
namespace {

using namespace testing;  // the helpers of memory_case.h

constexpr size_t kLayers = 2;

MemoryConfig config() {
  return {.needs = {checked_layer(), checked_layer()},
          .n_pages = 64,
          .max_sequences = 40,
          .max_positions = 512,
          .max_step_tokens = 256};
}

// Attaches, computes the rest in one step and returns what was shared.
int64_t attach_and_run(SequenceMemory& memory, SequenceId sequence, std::span<const int32_t> prompt) {
  const int64_t shared = memory.attach(sequence, prompt);
  EXPECT_TRUE(run_step(memory, sequence, prompt.subspan(static_cast<size_t>(shared)), kLayers).ok());
  expect_content(memory, sequence, kLayers);
  return shared;
}

int32_t held_pages(const SequenceMemory& memory) { return memory.gauges().groups[0].held; }

TEST(PrefixSharing, FullPagesAreSharedWhileTheirSequenceLives) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  EXPECT_EQ(attach_and_run(memory, a, tokens_of(1, 40)), 0);
  EXPECT_EQ(attach_and_run(memory, b, tokens_of(1, 32) + tokens_of(2, 20)), 32);
  EXPECT_EQ(held_pages(memory), 3 + 2);
  EXPECT_EQ(memory.group(0).page(a.index, 1), memory.group(0).page(b.index, 1));
  expect_content(memory, a, kLayers);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, PagesOutliveTheirSequenceUntilTheyAreNeeded) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 40));
  memory.close(a);
  EXPECT_EQ(memory.gauges().groups[0].cached, 2);
  EXPECT_EQ(memory.gauges().groups[0].free, 62);
  EXPECT_EQ(memory.match({}, tokens_of(1, 40)).cached, 32);

  // Others need all there is: the cache gives way.
  for (int i = 0; i < 4; ++i) {
    const SequenceId other = memory.open().value();
    attach_and_run(memory, other, tokens_of(10 + i, 256));
  }
  EXPECT_EQ(held_pages(memory), 64);
  EXPECT_EQ(memory.gauges().evictions, 2);
  EXPECT_EQ(memory.match({}, tokens_of(1, 40)).cached, 0);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, EvictedPagesComeInAscendingOrder) {
  SequenceMemory memory = make_memory(config());
  std::vector<SequenceId> burst;
  for (int32_t i = 0; i < 4; ++i) {
    burst.push_back(memory.open().value());
    attach_and_run(memory, burst.back(), tokens_of(1 + i, 256));
  }
  for (const SequenceId sequence : burst) memory.close(sequence);
  ASSERT_EQ(memory.gauges().groups[0].cached, 64);
  const SequenceId after = memory.open().value();
  attach_and_run(memory, after, tokens_of(100, 256));
  for (int32_t i = 0; i + 1 < 16; ++i)
    EXPECT_LT(memory.group(0).page(after.index, i), memory.group(0).page(after.index, i + 1));
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, TheLeastRecentlyUsedGoFirstLeavesBeforeTheirParents) {
  SequenceMemory memory = make_memory(config());
  for (const int32_t seed : {1, 2, 1}) {  // the first prefix is used again
    const SequenceId s = memory.open().value();
    attach_and_run(memory, s, tokens_of(seed, 65));
    memory.close(s);
  }
  const auto matched = [&](int32_t seed) { return memory.match({}, tokens_of(seed, 65)).cached; };
  // 8 pages are cached, 56 free. Each further page costs one.
  const std::vector<std::pair<int64_t, int64_t>> expected = {{64, 64}, {64, 48}, {64, 32}, {64, 16}, {64, 0},
                                                             {48, 0},  {32, 0},  {16, 0},  {0, 0}};
  std::vector<SequenceId> others;
  for (int i = 0; i < 7; ++i) {
    others.push_back(memory.open().value());
    attach_and_run(memory, others.back(), tokens_of(100 + i, 128));
  }
  const SequenceId last = memory.open().value();
  for (const auto& [first, second] : expected) {
    EXPECT_EQ(matched(1), first);
    EXPECT_EQ(matched(2), second);
    if (first == 0) break;
    ASSERT_TRUE(
        run_step(memory, last, tokens_of(500 + static_cast<int32_t>(first + second), 16), kLayers).ok());
    ASSERT_SOUND(memory);
  }
}

TEST(PrefixSharing, OfAFullHitTheLastTokenIsComputedIntoAPageOfItsOwn) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> prompt = tokens_of(1, 64);
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  attach_and_run(memory, a, prompt);
  EXPECT_EQ(memory.match({}, prompt).cached, 63);
  const int32_t shared_page = memory.group(0).page(a.index, 3);
  ASSERT_EQ(memory.attach(b, prompt), 63);
  EXPECT_EQ(memory.group(0).page(b.index, 3), shared_page);
  memory.begin_step();
  ASSERT_TRUE(memory.append(b, std::span(prompt).last(1)).ok());
  EXPECT_NE(memory.tables().groups[0].slots[0] / 16, shared_page);
  compute_step(memory, kLayers);
  expect_content(memory, a, kLayers);
  expect_content(memory, b, kLayers);
  memory.commit_step();
  // Both computed the same page; it is kept once.
  EXPECT_EQ(memory.group(0).page(b.index, 3), shared_page);
  EXPECT_EQ(memory.gauges().pages_merged, 1);
  EXPECT_EQ(held_pages(memory), 4);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, PartlyEqualPagesAreCopied) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 48));
  EXPECT_EQ(attach_and_run(memory, b, tokens_of(1, 37) + tokens_of(2, 20)), 37);
  EXPECT_EQ(memory.gauges().pages_copied, 1);
  EXPECT_NE(memory.group(0).page(a.index, 2), memory.group(0).page(b.index, 2));
  expect_content(memory, a, kLayers);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, ScopesDoNotShare) {
  SequenceMemory memory = make_memory(config());
  const PrefixScope mine = PrefixScope::create("mine").value();
  const PrefixScope yours = PrefixScope::create("yours").value();
  const PrefixScope adapted = PrefixScope::create("mine", "adapter 1").value();
  const std::vector<int32_t> prompt = tokens_of(1, 100);
  const SequenceId a = memory.open(mine).value();
  attach_and_run(memory, a, prompt);
  EXPECT_EQ(memory.match(mine, prompt).cached, 99 / 16 * 16);
  EXPECT_EQ(memory.match(yours, prompt).cached, 0);
  EXPECT_EQ(memory.match(adapted, prompt).cached, 0);
  EXPECT_EQ(memory.match({}, prompt).cached, 0);
  const SequenceId b = memory.open(yours).value();
  EXPECT_EQ(attach_and_run(memory, b, prompt), 0);
  EXPECT_EQ(held_pages(memory), 14);
}

TEST(PrefixSharing, ABurstComputesItsPrefixOnce) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> common = tokens_of(1, 256);
  const auto prompt_of = [&](int32_t i) { return common + tokens_of(100 + i, 10); };
  const SequenceId first = memory.open().value();
  EXPECT_EQ(memory.match({}, prompt_of(0)).pending, 0);
  EXPECT_EQ(memory.attach(first, prompt_of(0)), 0);
  // The first goes on in pieces; the others see how far it is and how far it is going.
  for (int64_t computed = 0; computed < 256; computed += 64) {
    const PrefixMatch match = memory.match({}, prompt_of(7));
    EXPECT_EQ(match.cached, computed);
    EXPECT_EQ(match.pending, 256);
    EXPECT_EQ(match.producer, first);
    EXPECT_TRUE(match.worth_waiting());
    ASSERT_TRUE(
        run_step(memory, first, std::span(common).subspan(static_cast<size_t>(computed), 64), kLayers).ok());
  }
  int64_t n_computed = 256;
  for (int32_t i = 1; i < 32; ++i) {
    EXPECT_FALSE(memory.match({}, prompt_of(i)).worth_waiting());
    const SequenceId other = memory.open().value();
    const int64_t shared = attach_and_run(memory, other, prompt_of(i));
    n_computed += 266 - shared;
  }
  EXPECT_EQ(n_computed, 256 + 31 * 10);
  EXPECT_EQ(held_pages(memory), 16 + 31);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, WhenTheProducerStopsAWaiterGoesOn) {
  for (const bool close : {true, false}) {
    SequenceMemory memory = make_memory(config());
    const std::vector<int32_t> prompt = tokens_of(1, 200);
    const SequenceId first = memory.open().value();
    memory.attach(first, prompt);
    ASSERT_TRUE(run_step(memory, first, std::span(prompt).first(64), kLayers).ok());
    EXPECT_TRUE(memory.match({}, prompt).worth_waiting());
    if (close) {
      memory.close(first);
    } else {
      memory.withdraw(first);
    }
    const PrefixMatch match = memory.match({}, prompt);
    EXPECT_EQ(match.cached, 64);
    EXPECT_FALSE(match.worth_waiting());
    const SequenceId second = memory.open().value();
    EXPECT_EQ(memory.attach(second, prompt), 64);
    EXPECT_EQ(memory.match({}, prompt).producer, second);
    ASSERT_SOUND(memory);
  }
}

TEST(PrefixSharing, ForksShareUntilOneWrites) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 40));
  const SequenceId b = memory.fork(a).value();
  EXPECT_EQ(held_pages(memory), 3);
  expect_content(memory, b, kLayers);
  ASSERT_TRUE(run_step(memory, b, tokens_of(2, 3), kLayers).ok());
  EXPECT_EQ(held_pages(memory), 4);
  ASSERT_TRUE(run_step(memory, a, tokens_of(3, 3), kLayers).ok());
  EXPECT_EQ(held_pages(memory), 4);  // the last holder writes in place
  EXPECT_EQ(memory.gauges().pages_copied, 1);
  expect_content(memory, a, kLayers);
  expect_content(memory, b, kLayers);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, TruncatingIntoAnIndexedPageKeepsItForOthers) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 64));
  EXPECT_EQ(memory.truncate(a, 37), 37);
  EXPECT_EQ(memory.gauges().groups[0].cached, 1);
  ASSERT_TRUE(run_step(memory, a, tokens_of(9, 30), kLayers).ok());
  expect_content(memory, a, kLayers);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(attach_and_run(memory, b, tokens_of(1, 64) + tokens_of(3, 5)), 64);
  ASSERT_SOUND(memory);
}

// The whole pool belongs to one sequence: nothing is left to copy its own last page to.
TEST(PrefixSharing, AFullPoolRewritesItsOwnLastPage) {
  MemoryConfig tight = config();
  tight.n_pages = 4;
  tight.max_positions = 64;
  SequenceMemory memory = make_memory(tight);
  const SequenceId a = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 64));
  EXPECT_EQ(memory.truncate(a, 50), 50);
  EXPECT_EQ(memory.needed(a, 14).groups[0], 0);
  ASSERT_TRUE(run_step(memory, a, tokens_of(2, 14), kLayers).ok());
  expect_content(memory, a, kLayers);
  EXPECT_EQ(memory.match({}, tokens_of(1, 64)).cached, 50);  // what the two have in common
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, CachedPagesStayBelowTheirLimit) {
  MemoryConfig limited = config();
  limited.max_cached_bytes = 5 * 2 * 128 + 17;
  SequenceMemory memory = make_memory(limited);
  const SequenceId a = memory.open().value();
  attach_and_run(memory, a, tokens_of(1, 200));
  memory.close(a);
  EXPECT_EQ(memory.gauges().groups[0].cached, 5);
  EXPECT_EQ(memory.match({}, tokens_of(1, 200)).cached, 80);
  memory.clear_cache();
  EXPECT_EQ(memory.gauges().groups[0].free, 64);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, CanBeSwitchedOff) {
  MemoryConfig off = config();
  off.prefix_cache = PrefixCache::kOff;
  SequenceMemory memory = make_memory(off);
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  EXPECT_EQ(attach_and_run(memory, a, tokens_of(1, 64)), 0);
  EXPECT_EQ(attach_and_run(memory, b, tokens_of(1, 64)), 0);
  memory.close(a);
  EXPECT_EQ(memory.gauges().groups[0].cached, 0);
  EXPECT_EQ(memory.gauges().hits, 0);
  ASSERT_SOUND(memory);
}

TEST(PrefixSharing, HitsAreCounted) {
  SequenceMemory memory = make_memory(config());
  for (int i = 0; i < 3; ++i) attach_and_run(memory, memory.open().value(), tokens_of(1, 40));
  const MemoryGauges gauges = memory.gauges();
  EXPECT_EQ(gauges.lookups, 3);
  EXPECT_EQ(gauges.hits, 2);
  EXPECT_EQ(gauges.positions_shared, 64);
}

}  // namespace
}  // namespace quire

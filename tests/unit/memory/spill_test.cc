// Sequences that make room for others and come back.
#include "unit/memory/memory_case.h"

namespace quire {
namespace {

using namespace testing;  // the helpers of memory_case.h

constexpr size_t kLayers = 3;

MemoryConfig config(PrefixCache prefix_cache) {
  return {.needs = {checked_layer(), checked_layer(40), checked_layer()},
          .n_pages = 16,
          .n_spill_pages = 10,
          .max_sequences = 3,
          .max_positions = 200,
          .max_step_tokens = 200,
          .prefix_cache = prefix_cache};
}

class Spill : public ::testing::TestWithParam<PrefixCache> {};
INSTANTIATE_TEST_SUITE_P(Cache, Spill, ::testing::Values(PrefixCache::kOff, PrefixCache::kOn));

TEST_P(Spill, BringsTheSameBitsBack) {
  SequenceMemory memory = make_memory(config(GetParam()));
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  ASSERT_TRUE(run_step(memory, a, tokens_of(1, 150), kLayers).ok());
  EXPECT_EQ(memory.group(0).pool().n_held(), 10);
  ASSERT_TRUE(memory.spill(a).ok());
  EXPECT_TRUE(memory.spilled(a));
  EXPECT_EQ(memory.length(a), 150);
  EXPECT_EQ(memory.group(0).pool().n_held(), 0);
  ASSERT_SOUND(memory);

  ASSERT_TRUE(run_step(memory, b, tokens_of(2, 195), kLayers).ok());  // overwrites most pages
  const Status no_room = memory.restore(a);
  ASSERT_FALSE(no_room.ok());
  EXPECT_EQ(no_room.error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(memory.spilled(a));
  ASSERT_SOUND(memory);

  memory.close(b);
  ASSERT_TRUE(memory.restore(a).ok());
  expect_content(memory, a, kLayers);
  ASSERT_SOUND(memory);
  ASSERT_TRUE(run_step(memory, a, tokens_of(3, 40), kLayers).ok());
  expect_content(memory, a, kLayers);
  EXPECT_EQ(memory.gauges().spills, 1);
  EXPECT_EQ(memory.gauges().restores, 1);
}

TEST_P(Spill, IsRefusedWhenTheAreaIsFull) {
  SequenceMemory memory = make_memory(config(GetParam()));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_step(memory, a, tokens_of(1, 161), kLayers).ok());  // 11 pages
  const Status refused = memory.spill(a);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_FALSE(memory.spilled(a));
  expect_content(memory, a, kLayers);
  memory.truncate(a, 160);
  ASSERT_TRUE(memory.spill(a).ok());
  memory.close(a);  // spilled sequences end like others
  ASSERT_SOUND(memory);
  const SequenceId b = memory.open().value();
  ASSERT_TRUE(run_step(memory, b, tokens_of(1, 160), kLayers).ok());
  ASSERT_TRUE(memory.spill(b).ok());
}

TEST(SpillSharing, PagesThatAreStillThereAreNotCopiedBack) {
  SequenceMemory memory = make_memory(config(PrefixCache::kOn));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_step(memory, a, tokens_of(1, 90), kLayers).ok());
  const SequenceId b = memory.fork(a).value();
  ASSERT_TRUE(memory.spill(a).ok());
  EXPECT_EQ(memory.group(0).pool().n_held(), 6);
  ASSERT_TRUE(memory.restore(a).ok());
  EXPECT_EQ(memory.group(0).pool().n_held(), 7);  // only the page that is not full was private
  expect_content(memory, a, kLayers);
  expect_content(memory, b, kLayers);
  ASSERT_SOUND(memory);
}

TEST(SpillDeathTest, ASpilledSequenceIsNotUsed) {
  SequenceMemory memory = make_memory(config(PrefixCache::kOn));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_step(memory, a, tokens_of(1, 90), kLayers).ok());
  EXPECT_DEATH((void)memory.restore(a), "check failed");
  ASSERT_TRUE(memory.spill(a).ok());
  EXPECT_DEATH((void)memory.truncate(a, 0), "check failed");
  memory.begin_step();
  EXPECT_DEATH((void)memory.append(a, tokens_of(1, 1)), "check failed");
}

}  // namespace
}  // namespace quire

// Layers that see a window of positions: as in gemma3, five of them to one that sees all.
#include <gmock/gmock.h>

#include "unit/memory/memory_case.h"

namespace quire {
namespace {

using namespace testing;  // the helpers of memory_case.h

constexpr int32_t kWindow = 40;
constexpr size_t kLayers = 6;

MemoryConfig config(PrefixCache prefix_cache = PrefixCache::kOn) {
  MemoryConfig config = {.n_pages = 200,
                         .max_sequences = 4,
                         .max_positions = 600,
                         .max_step_tokens = 64,
                         .prefix_cache = prefix_cache};
  for (size_t layer = 0; layer < kLayers; ++layer)
    config.needs.push_back(checked_layer(layer == 5 ? 0 : kWindow));
  return config;
}

Status run_all(SequenceMemory& memory, SequenceId sequence, std::span<const int32_t> tokens) {
  for (size_t begin = 0; begin < tokens.size(); begin += 64) {
    const auto part = tokens.subspan(begin, std::min<size_t>(64, tokens.size() - begin));
    QUIRE_RETURN_IF_ERROR(run_step(memory, sequence, part, kLayers));
    expect_content(memory, sequence, kLayers);
    QUIRE_RETURN_IF_ERROR(memory.check());
  }
  return {};
}

TEST(Windows, LayersFormAGroupForEachWindow) {
  const SequenceMemory memory = make_memory(config());
  ASSERT_EQ(memory.n_groups(), 2);
  EXPECT_EQ(memory.layer_group(5), 0);
  EXPECT_EQ(memory.group(0).window(), 0);
  EXPECT_EQ(memory.group(0).pool().n_pages(), 200);
  for (size_t layer = 0; layer < 5; ++layer) EXPECT_EQ(memory.layer_group(layer), 1);
  EXPECT_EQ(memory.group(1).window(), kWindow);
  // 39 positions and what they begin and end in: 5 pages a sequence; 4 more for a window that stays cached;
  // and a step of 64 tokens.
  EXPECT_EQ(memory.group(1).pool().n_pages(), 4 * (5 + 4) + 4);
  EXPECT_EQ(make_memory(config(PrefixCache::kOff)).group(1).pool().n_pages(), 4 * 5 + 4);
}

TEST(Windows, TooManyDifferentWindowsAreRefused) {
  MemoryConfig many = config();
  for (int32_t window = 1; window < 4; ++window) many.needs.push_back(checked_layer(window));
  const Result<SequenceMemory> memory = SequenceMemory::create(many);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code, ErrorCode::kUnsupported);
}

TEST(Windows, ASequenceHoldsOnlyWhatItsNextQuerySees) {
  SequenceMemory memory = make_memory(config(PrefixCache::kOff));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, tokens_of(1, 500)).ok());
  EXPECT_EQ(memory.group(0).end_page(a.index) - memory.group(0).first_page(a.index), 32);
  EXPECT_EQ(memory.group(1).first_page(a.index), (500 - kWindow + 1) / 16);
  EXPECT_EQ(memory.group(1).pool().n_held(), 4);
  EXPECT_EQ(memory.group(1).pool().n_free(), 20);  // what left the window is free at once
}

TEST(Windows, PoolsOfWindowsNeverRunDry) {
  SequenceMemory memory = make_memory(config());
  std::vector<SequenceId> sequences;
  for (int i = 0; i < 4; ++i) sequences.push_back(memory.open().value());
  for (int step = 0; step < 40; ++step) {
    for (int32_t i = 0; i < 4; ++i) {
      if (memory.length(sequences[static_cast<size_t>(i)]) + 61 > 600) continue;
      memory.begin_step();
      for (int32_t j = 0; j < 4; ++j) {  // one gets a chunk, the others a token
        ASSERT_TRUE(
            memory.append(sequences[static_cast<size_t>(j)], tokens_of(j + step * 7, i == j ? 61 : 1)).ok());
      }
      compute_step(memory, kLayers);
      memory.commit_step();
      ASSERT_SOUND(memory);
    }
  }
  for (const SequenceId s : sequences) expect_content(memory, s, kLayers);
}

TEST(Windows, AHitNeedsTheWindowBeforeIt) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> prompt = tokens_of(1, 200);
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, prompt).ok());
  EXPECT_EQ(memory.match({}, prompt).cached, 192);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, prompt), 192);
  EXPECT_EQ(memory.group(1).first_page(b.index), (192 - kWindow + 1) / 16);
  ASSERT_TRUE(run_all(memory, b, std::span(prompt).subspan(192)).ok());
  memory.close(a);
  memory.close(b);
  // Cached pages of the windowed layers are few; many strangers take them, those of the full layer remain.
  for (int32_t i = 0; i < 16; ++i) {
    const SequenceId c = memory.open().value();
    ASSERT_TRUE(run_all(memory, c, tokens_of(2 + i, 64)).ok());
    memory.close(c);
  }
  EXPECT_EQ(memory.gauges().groups[0].cached, 12 + 16 * 4);
  EXPECT_EQ(memory.match({}, prompt).cached, 0);
}

// A prefix that has been used twice survives prompts of any length that pass through, beside as many busy
// sequences as there can be.
TEST(Windows, APrefixThatBranchesIsFoundAfterLongStrangers) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> prefix = tokens_of(1, 192);
  for (int32_t user = 0; user < 2; ++user) {
    const SequenceId a = memory.open().value();
    const std::vector<int32_t> prompt = prefix + tokens_of(100 + user, 100);
    const int64_t shared = memory.attach(a, prompt);
    ASSERT_TRUE(run_all(memory, a, std::span(prompt).subspan(static_cast<size_t>(shared))).ok());
    memory.close(a);
  }
  std::vector<SequenceId> busy;
  for (int32_t i = 0; i < 3; ++i) {
    busy.push_back(memory.open().value());
    ASSERT_TRUE(run_all(memory, busy.back(), tokens_of(200 + i, 600)).ok());
  }
  const std::vector<int32_t> prompt = prefix + tokens_of(300, 50);
  EXPECT_EQ(memory.match({}, prompt).cached, 192);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, prompt), 192);
  ASSERT_TRUE(run_all(memory, b, std::span(prompt).subspan(192)).ok());
  for (const SequenceId s : busy) expect_content(memory, s, kLayers);
}

TEST(Windows, AShorterHitIsFoundWhenOnlyItsWindowIsLeft) {
  MemoryConfig roomy = config();
  roomy.max_sequences = 10;
  SequenceMemory memory = make_memory(roomy);
  const std::vector<int32_t> prompt = tokens_of(1, 160);
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, std::span(prompt).first(96)).ok());
  memory.close(a);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, prompt), 96);
  ASSERT_TRUE(run_all(memory, b, std::span(prompt).subspan(96)).ok());
  EXPECT_EQ(memory.match({}, prompt).cached, 144 + 15);
  memory.close(b);
  EXPECT_EQ(memory.match({}, std::span(prompt).first(96)).cached, 95);
}

TEST(Windows, TruncationBehindTheWindowBringsCachedPagesBack) {
  SequenceMemory memory = make_memory(config());
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, tokens_of(1, 200)).ok());
  EXPECT_EQ(memory.truncate(a, 150), 150);
  EXPECT_GT(memory.gauges().pages_restored, 0);
  expect_content(memory, a, kLayers);
  ASSERT_SOUND(memory);
  ASSERT_TRUE(run_all(memory, a, tokens_of(3, 60)).ok());
  EXPECT_EQ(memory.truncate(a, 20), 20);
  expect_content(memory, a, kLayers);
}

TEST(Windows, WithoutThemItGoesBackToTheLongestLengthThatCanContinue) {
  SequenceMemory memory = make_memory(config(PrefixCache::kOff));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, tokens_of(1, 200)).ok());
  EXPECT_EQ(memory.truncate(a, 199), 199);  // still inside the pages it holds
  EXPECT_EQ(memory.truncate(a, 150), 0);
  EXPECT_EQ(memory.group(1).pool().n_free(), 24);
  ASSERT_TRUE(run_all(memory, a, tokens_of(1, 150)).ok());
}

TEST(Windows, RefusedDraftsAreTakenBackBeforeAnythingLeavesTheWindow) {
  SequenceMemory memory = make_memory(config(PrefixCache::kOff));
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(run_all(memory, a, tokens_of(1, 200)).ok());
  memory.begin_step();
  ASSERT_TRUE(memory.append(a, tokens_of(2, 48)).ok());
  compute_step(memory, kLayers);
  EXPECT_EQ(memory.truncate(a, 203), 203);
  memory.commit_step();
  expect_content(memory, a, kLayers);
  ASSERT_SOUND(memory);
}

TEST(Windows, AModelMayHaveNothingElse) {
  MemoryConfig only = config();
  only.needs = {checked_layer(kWindow)};
  SequenceMemory memory = make_memory(only);
  const SequenceId a = memory.open().value();
  for (int32_t i = 0; i < 9; ++i) {
    ASSERT_TRUE(run_step(memory, a, tokens_of(i, 64), 1).ok());
    expect_content(memory, a, 1);
    ASSERT_SOUND(memory);
  }
  const SequenceId b = memory.open().value();
  std::vector<int32_t> prompt(memory.tokens(a).begin(), memory.tokens(a).end());
  prompt.push_back(5);
  EXPECT_EQ(memory.attach(b, prompt), 576);
  ASSERT_TRUE(run_step(memory, b, std::vector<int32_t>{5}, 1).ok());
  expect_content(memory, b, 1);
}

}  // namespace
}  // namespace quire

// Layers that keep one state for a whole sequence: from which lengths it can go on, what is shared, what is
// planned. Every step compares the state it starts from with the tokens before it (memory_case.h).
#include <gmock/gmock.h>

#include "unit/memory/memory_case.h"

namespace quire {
namespace {

using namespace testing;  // the helpers of memory_case.h

constexpr int64_t kEvery = 64;

MemoryConfig config(int32_t max_draft = 0, PrefixCache prefix_cache = PrefixCache::kOn) {
  return {.needs = {checked_layer(), checked_state(), checked_state()},
          .n_pages = 60,
          .max_sequences = 4,
          .max_positions = 400,
          .max_step_tokens = 100,
          .max_draft = max_draft,
          .checkpoint_every = kEvery,
          .prefix_cache = prefix_cache};
}

void run_all(SequenceMemory& memory, SequenceId sequence, std::span<const int32_t> tokens,
             size_t chunk = 100) {
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const auto part = tokens.subspan(begin, std::min(chunk, tokens.size() - begin));
    ASSERT_TRUE(run_step(memory, sequence, part, 3).ok());
    ASSERT_SOUND(memory);
  }
}

// A step more: it compares the state.
void expect_state(SequenceMemory& memory, SequenceId sequence) {
  run_all(memory, sequence, tokens_of(77, 1));
}

TEST(States, AreOfOneGroupBesideThePages) {
  SequenceMemory memory = make_memory(config(3));
  EXPECT_EQ(memory.n_groups(), 1);
  EXPECT_EQ(memory.layer_group(1), kStateGroup);
  ASSERT_NE(memory.states(), nullptr);
  EXPECT_EQ(memory.states()->slot_floats(), 96);
  EXPECT_EQ(memory.layer_states(2) - memory.layer_states(1), 48);
  EXPECT_EQ(memory.states()->sequence_bytes(), 4u * 4 * 96 * 4);  // four planes for each sequence
  // Three for each sequence, and those of a prefix as long as all pages.
  EXPECT_EQ(memory.states()->checkpoints().n_pages(), 3 * 4 + 60 * 16 / kEvery);
}

TEST(States, ADryMemoryReportsTheSameBytes) {
  MemoryConfig dry = config(2);
  dry.allocation = Allocation::kDry;
  const SequenceMemory planned = make_memory(dry);
  const SequenceMemory memory = make_memory(config(2));
  EXPECT_EQ(planned.states()->sequence_bytes(), memory.states()->sequence_bytes());
  EXPECT_EQ(planned.states()->checkpoint_bytes(), memory.states()->checkpoint_bytes());
  EXPECT_EQ(planned.table_bytes(), memory.table_bytes());
  EXPECT_EQ(planned.layer_states(1), nullptr);
  EXPECT_NE(memory.layer_states(1), nullptr);
}

TEST(States, CheckpointsStayWithinTheirBytes) {
  MemoryConfig few = config();
  few.max_checkpoint_bytes = 5 * 96 * sizeof(float) + 1;
  EXPECT_EQ(make_memory(few).states()->checkpoints().n_pages(), 5);
  few.max_checkpoint_bytes = 0;
  SequenceMemory none = make_memory(few);
  const SequenceId a = none.open().value();
  run_all(none, a, tokens_of(1, 150));
  EXPECT_EQ(none.truncate(a, 149), 0);
  run_all(none, a, tokens_of(2, 30), 7);
}

TEST(States, AdvanceInPlaceWhateverTheChunks) {
  for (const size_t chunk : {1, 3, 16, 17, 64, 100}) {
    SequenceMemory memory = make_memory(config());
    const SequenceId a = memory.open().value(), b = memory.open().value();
    run_all(memory, a, tokens_of(1, 130), chunk);
    run_all(memory, b, tokens_of(2, 70), chunk);
    run_all(memory, a, tokens_of(3, 60), chunk);
    expect_state(memory, b);
  }
}

TEST(States, APrefixIsSharedUpToTheLastCheckpoint) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> prompt = tokens_of(1, 150);
  const SequenceId a = memory.open().value();
  EXPECT_EQ(memory.attach(a, prompt), 0);
  run_all(memory, a, prompt);
  // Where the prompt ends there is one, at its last full page.
  EXPECT_EQ(memory.match({}, prompt).cached, 144);
  EXPECT_EQ(memory.match({}, std::span(prompt).first(144)).cached, 128);
  EXPECT_EQ(memory.match({}, std::span(prompt).first(127)).cached, 64);
  EXPECT_EQ(memory.match({}, std::span(prompt).first(64)).cached, 0);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, prompt), 144);
  EXPECT_EQ(memory.gauges().states.copied, 0);  // the first step reads the checkpoint
  run_all(memory, b, std::span(prompt).subspan(144));
  expect_content(memory, b, 3);
  expect_state(memory, a);
}

TEST(States, WhatASequenceComputedIsFoundAfterItsEnd) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> tokens = tokens_of(1, 62);
  const SequenceId a = memory.open().value();
  memory.attach(a, std::span(tokens).first(20));
  run_all(memory, a, tokens, 1);
  EXPECT_EQ(memory.match({}, tokens).cached, 16);
  memory.close(a);
  ASSERT_SOUND(memory);
  EXPECT_EQ(memory.match({}, tokens).cached, 48);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, tokens), 48);
  run_all(memory, b, std::span(tokens).subspan(48));
}

TEST(States, OthersWaitOnlyForLengthsOfWhichAStateWillBeLeft) {
  SequenceMemory memory = make_memory(config());
  const std::vector<int32_t> common = tokens_of(1, 100);
  const SequenceId a = memory.open().value();
  memory.attach(a, common + tokens_of(2, 50));
  const PrefixMatch match = memory.match({}, common + tokens_of(3, 50));
  EXPECT_EQ(match.pending, 64);
  EXPECT_EQ(match.producer, a);
  EXPECT_EQ(memory.match({}, tokens_of(1, 60)).pending, 0);
  EXPECT_EQ(memory.match({}, common + tokens_of(2, 50)).pending, 144);  // the end of that prompt
  run_all(memory, a, common, 64);
  EXPECT_EQ(memory.match({}, common + tokens_of(3, 50)).cached, 64);
}

TEST(States, TruncationEndsWhereAStateIsLeft) {
  for (const PrefixCache cache : {PrefixCache::kOn, PrefixCache::kOff}) {
    SequenceMemory memory = make_memory(config(0, cache));
    const SequenceId a = memory.open().value();
    run_all(memory, a, tokens_of(1, 200), 50);
    EXPECT_EQ(memory.truncate(a, 200), 200);
    EXPECT_EQ(memory.truncate(a, 199), 192);  // its last page
    expect_state(memory, a);
    EXPECT_EQ(memory.truncate(a, 190), cache == PrefixCache::kOn ? 128 : 0);
    expect_state(memory, a);
    EXPECT_EQ(memory.truncate(a, 0), 0);
    expect_state(memory, a);
  }
}

TEST(States, DraftsUpToThePlannedLengthAreTakenBackExactly) {
  constexpr int32_t kDraft = 5;
  SequenceMemory memory = make_memory(config(kDraft));
  const SequenceId a = memory.open().value();
  run_all(memory, a, tokens_of(1, 57));
  for (int32_t round = 0; round < 60; ++round) {
    // Before commit_step, as a verified draft is; every number of refused rows, across ends of pages.
    const int64_t begin = memory.length(a);
    const int32_t refused = round % (kDraft + 1);
    memory.begin_step();
    ASSERT_TRUE(memory.append(a, tokens_of(round, kDraft + 1)).ok());
    compute_step(memory, 3);
    ASSERT_EQ(memory.truncate(a, begin + kDraft + 1 - refused), begin + kDraft + 1 - refused);
    memory.commit_step();
    ASSERT_SOUND(memory);
  }
  // After it too, several times in a row.
  run_all(memory, a, tokens_of(3, 40));
  const int64_t length = memory.length(a);
  EXPECT_EQ(memory.truncate(a, length - 2), length - 2);
  EXPECT_EQ(memory.truncate(a, length - kDraft), length - kDraft);
  expect_state(memory, a);
  EXPECT_EQ(memory.truncate(a, length - kDraft), length - kDraft);
  expect_state(memory, a);
}

TEST(States, AStepThatDoesNotRunChangesNothing) {
  for (const int32_t draft : {0, 4}) {
    SequenceMemory memory = make_memory(config(draft));
    const SequenceId a = memory.open().value();
    const std::vector<int32_t> tokens = tokens_of(1, 64);  // at a checkpoint, which the step would move
    for (const size_t n : {1, 3, 16, 64}) {
      run_all(memory, a, std::span(tokens).first(n));
      const int64_t length = memory.length(a);
      memory.begin_step();
      ASSERT_TRUE(memory.append(a, tokens_of(9, 90)).ok());
      memory.take_back(a);
      memory.begin_step();
      ASSERT_SOUND(memory);
      EXPECT_EQ(memory.length(a), length);
    }
    expect_state(memory, a);
  }
}

TEST(States, AForkStartsFromACopy) {
  SequenceMemory memory = make_memory(config(2));
  const SequenceId a = memory.open().value();
  for (const int64_t n : {0, 30, 2, 16, 11}) {  // none yet, within a page, at an end
    if (n > 0) run_all(memory, a, tokens_of(1, n));
    const SequenceId b = memory.fork(a).value();
    run_all(memory, b, tokens_of(4, 20), 6);
    run_all(memory, a, tokens_of(5, 3));
    memory.close(b);
    ASSERT_SOUND(memory);
  }
  EXPECT_GT(memory.gauges().states.copied, 0);
}

TEST(States, ASpilledSequenceKeepsIts) {
  MemoryConfig roomy = config();
  roomy.n_spill_pages = 20;
  SequenceMemory memory = make_memory(roomy);
  const SequenceId a = memory.open().value();
  for (const int64_t n : {100, 28, 5}) {
    run_all(memory, a, tokens_of(1, n));
    ASSERT_TRUE(memory.spill(a).ok());
    const SequenceId b = memory.open().value();
    run_all(memory, b, tokens_of(2, 300));
    memory.close(b);
    ASSERT_SOUND(memory);
    ASSERT_TRUE(memory.restore(a).ok());
    expect_state(memory, a);
    expect_content(memory, a, 3);
  }
}

TEST(States, OldCheckpointsMakeRoom) {
  MemoryConfig few = config();
  few.max_checkpoint_bytes = 6 * 96 * sizeof(float);
  SequenceMemory memory = make_memory(few);
  std::vector<SequenceId> open;
  for (int32_t i = 0; i < 40; ++i) {
    if (open.size() == 4) {
      memory.close(open[static_cast<size_t>(i) % 4]);
      open.erase(open.begin() + i % 4);
    }
    const std::vector<int32_t> prompt = tokens_of(i % 7, 140);
    open.push_back(memory.open().value());
    const int64_t shared = memory.attach(open.back(), prompt);
    run_all(memory, open.back(), std::span(prompt).subspan(static_cast<size_t>(shared)), 33);
  }
  const StateGauges gauges = memory.gauges().states;
  EXPECT_EQ(gauges.free + gauges.held + gauges.cached, 6);
  EXPECT_GT(gauges.evictions, 0);
  memory.clear_cache();
  EXPECT_EQ(memory.gauges().states.cached, 0);
  ASSERT_SOUND(memory);
}

TEST(States, AModelMayHaveNothingElse) {
  MemoryConfig only = config();
  only.needs = {checked_state(), checked_state(), checked_state()};
  SequenceMemory memory = make_memory(only);
  EXPECT_EQ(memory.n_groups(), 0);
  const std::vector<int32_t> prompt = tokens_of(1, 100);
  const SequenceId a = memory.open().value();
  memory.attach(a, prompt);
  EXPECT_EQ(memory.match({}, prompt).pending, 96);
  run_all(memory, a, prompt, 40);
  const SequenceId b = memory.open().value();
  EXPECT_EQ(memory.attach(b, prompt), 96);
  run_all(memory, b, std::span(prompt).subspan(96));
  EXPECT_EQ(memory.truncate(a, 99), 96);
  expect_state(memory, a);
}

}  // namespace
}  // namespace quire

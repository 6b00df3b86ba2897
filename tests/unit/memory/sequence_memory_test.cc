// Pages and tables of sequences that share nothing.
#include "memory/sequence_memory.h"

#include <gmock/gmock.h>

#include "unit/memory/memory_case.h"

namespace quire {
namespace {

using ::testing::ElementsAre;
using testing::make_memory;
using testing::tokens_of;

MemoryConfig small_config() {
  return {.needs = {AttentionNeed{.n_head_kv = 2, .d_k = 8, .d_v = 4},
                    AttentionNeed{.n_head_kv = 1, .d_k = 8, .d_v = 8}},
          .element_bytes = 2,
          .n_pages = 6,
          .max_sequences = 3,
          .max_positions = 64,
          .max_step_tokens = 40,
          .prefix_cache = PrefixCache::kOff};
}

// Appends in a step of its own.
Status grow(SequenceMemory& memory, SequenceId sequence, int64_t n_tokens) {
  memory.begin_step();
  QUIRE_RETURN_IF_ERROR(memory.append(sequence, tokens_of(sequence.index, n_tokens)));
  memory.commit_step();
  return {};
}

int32_t free_pages(const SequenceMemory& memory) { return memory.group(0).pool().n_free(); }

std::vector<int32_t> pages_of(const SequenceMemory& memory, SequenceId sequence, int32_t group = 0) {
  std::vector<int32_t> pages;
  const PageGroup& g = memory.group(group);
  for (int32_t i = g.first_page(sequence.index); i < g.end_page(sequence.index); ++i)
    pages.push_back(g.page(sequence.index, i));
  return pages;
}

TEST(SequenceMemory, PagesForRoundsUp) {
  EXPECT_EQ(pages_for(0), 0);
  EXPECT_EQ(pages_for(1), 1);
  EXPECT_EQ(pages_for(16), 1);
  EXPECT_EQ(pages_for(17), 2);
}

TEST(SequenceMemory, ADryMemoryReportsTheSameBytesWithNothingAllocated) {
  for (const PrefixCache prefix_cache : {PrefixCache::kOff, PrefixCache::kOn}) {
    MemoryConfig config = small_config();
    config.prefix_cache = prefix_cache;
    const SequenceMemory real = make_memory(config);
    config.allocation = Allocation::kDry;
    const SequenceMemory dry = make_memory(config);
    // 6 pages x 16 positions x 2 bytes x (2 heads x (8 + 4) + 1 head x (8 + 8)) values.
    EXPECT_EQ(real.page_bytes(), size_t{6 * 16 * 2 * (2 * 12 + 16)});
    EXPECT_EQ(dry.page_bytes(), real.page_bytes());
    EXPECT_EQ(dry.table_bytes(), real.table_bytes());
    EXPECT_EQ(dry.layer_page_stride(1), real.layer_page_stride(1));
    EXPECT_NE(real.layer_pages(0), nullptr);
    EXPECT_EQ(dry.layer_pages(0), nullptr);
  }
}

// One row serves as key and value: half of what keys and values of the same width take.
TEST(SequenceMemory, ALatentLayerKeepsOneRowAPosition) {
  MemoryConfig config = small_config();
  config.needs = {LatentNeed{.width = 576}, AttentionNeed{.n_head_kv = 1, .d_k = 576, .d_v = 576}};
  config.allocation = Allocation::kDry;
  const SequenceMemory memory = make_memory(config);
  EXPECT_EQ(memory.n_groups(), 1);
  EXPECT_EQ(memory.layer_page_stride(0), size_t{16 * 576 * 2});
  EXPECT_EQ(memory.layer_page_stride(1), 2 * memory.layer_page_stride(0));
}

TEST(SequenceMemory, ADryMemoryKeepsTheSameBooks) {
  MemoryConfig config = small_config();
  config.allocation = Allocation::kDry;
  SequenceMemory memory = make_memory(config);
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  EXPECT_EQ(free_pages(memory), 3);
  ASSERT_SOUND(memory);
}

// Every layer's pages lie apart from every other's: each byte belongs to one page of one layer.
TEST(SequenceMemory, LayersDoNotOverlap) {
  const MemoryConfig config = small_config();
  const SequenceMemory memory = make_memory(config);
  const auto page_at = [&](size_t layer, int32_t page) {
    return std::span(memory.layer_pages(layer) + static_cast<size_t>(page) * memory.layer_page_stride(layer),
                     memory.layer_page_stride(layer));
  };
  const auto value_at = [](size_t layer, int32_t page) {
    return std::byte{static_cast<uint8_t>(layer * 100 + static_cast<size_t>(page) + 1)};
  };
  for (size_t layer = 0; layer < config.needs.size(); ++layer) {
    for (int32_t page = 0; page < config.n_pages; ++page)
      std::ranges::fill(page_at(layer, page), value_at(layer, page));
  }
  for (size_t layer = 0; layer < config.needs.size(); ++layer) {
    for (int32_t page = 0; page < config.n_pages; ++page)
      EXPECT_THAT(page_at(layer, page), ::testing::Each(value_at(layer, page)));
  }
}

TEST(SequenceMemory, StepTablesFollowThePages) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 15).ok());  // page 0
  ASSERT_TRUE(grow(memory, b, 17).ok());  // pages 1, 2

  memory.begin_step();
  ASSERT_TRUE(memory.append(a, tokens_of(1, 3)).ok());  // position 15 in page 0, then page 3
  ASSERT_TRUE(memory.append(b, tokens_of(2, 1)).ok());
  const StepTables tables = memory.tables();
  EXPECT_THAT(tables.positions, ElementsAre(15, 16, 17, 17));
  EXPECT_THAT(tables.sequences, ElementsAre(a, b));
  ASSERT_EQ(tables.groups.size(), 1u);
  const GroupTables& group = tables.groups[0];
  EXPECT_THAT(group.slots, ElementsAre(15, 3 * 16, 3 * 16 + 1, 2 * 16 + 1));
  ASSERT_EQ(group.spans.size(), 2u);
  EXPECT_EQ(group.spans[0].row_begin, 0);
  EXPECT_EQ(group.spans[0].row_end, 3);
  EXPECT_THAT(std::span(group.spans[0].table, 2), ElementsAre(0, 3));
  EXPECT_EQ(group.spans[1].row_begin, 3);
  EXPECT_EQ(group.spans[1].row_end, 4);
  EXPECT_THAT(std::span(group.spans[1].table, 2), ElementsAre(1, 2));

  memory.commit_step();
  memory.begin_step();
  EXPECT_TRUE(memory.tables().positions.empty());
  EXPECT_TRUE(memory.tables().groups[0].spans.empty());
}

TEST(SequenceMemory, TablesStayWhereTheyAre) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  const auto grow_open = [&](int64_t n) {
    memory.begin_step();
    return memory.append(a, tokens_of(1, n)).ok();
  };
  ASSERT_TRUE(grow_open(1));
  const StepTables before = memory.tables();
  const int32_t* table = before.groups[0].spans[0].table;
  const int64_t* slots = before.groups[0].slots.data();
  memory.commit_step();
  ASSERT_TRUE(grow_open(39));  // nothing is reallocated at the largest step either
  const StepTables after = memory.tables();
  EXPECT_EQ(after.groups[0].spans[0].table, table);
  EXPECT_EQ(after.positions.data(), before.positions.data());
  EXPECT_EQ(after.groups[0].slots.data(), slots);
}

TEST(SequenceMemory, WhatDoesNotFitIsRefusedAndChangesNothing) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  const SequenceId c = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  ASSERT_TRUE(grow(memory, a, 20).ok());  // 60 of 64 positions, 4 of 6 pages

  memory.begin_step();
  ASSERT_TRUE(memory.append(c, tokens_of(3, 7)).ok());
  const auto expect_refused = [&](SequenceId sequence, int64_t n_tokens, ErrorCode code) {
    const int64_t length = memory.length(sequence);
    const int32_t n_free = free_pages(memory);
    const Status status = memory.append(sequence, tokens_of(4, n_tokens));
    ASSERT_FALSE(status.ok()) << n_tokens;
    EXPECT_EQ(status.error().code, code) << status.error().message;
    EXPECT_EQ(memory.length(sequence), length);
    EXPECT_EQ(free_pages(memory), n_free);
    EXPECT_EQ(memory.tables().positions.size(), 7u);
    EXPECT_EQ(memory.tables().groups[0].spans.size(), 1u);
    ASSERT_SOUND(memory);
  };
  expect_refused(a, 5, ErrorCode::kContextLength);
  expect_refused(b, 65, ErrorCode::kContextLength);
  expect_refused(b, 34, ErrorCode::kResourceExhausted);  // the step is one token short
  expect_refused(b, 17, ErrorCode::kResourceExhausted);  // two pages, one is free
  EXPECT_TRUE(memory.append(b, tokens_of(4, 16)).ok());
  EXPECT_EQ(free_pages(memory), 0);
}

TEST(SequenceMemory, TruncateGivesWholePagesBackAtOnce) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  for (const auto& [n_keep, n_free] : {std::pair{33, 3}, {32, 4}, {5, 5}, {0, 6}}) {
    EXPECT_EQ(memory.truncate(a, n_keep), n_keep);
    EXPECT_EQ(free_pages(memory), n_free);
    EXPECT_EQ(memory.length(a), n_keep);
    ASSERT_SOUND(memory);
  }
  memory.begin_step();
  ASSERT_TRUE(memory.append(a, tokens_of(1, 2)).ok());
  EXPECT_THAT(memory.tables().positions, ElementsAre(0, 1));
}

TEST(SequenceMemory, ClosedSequencesMakeRoom) {
  SequenceMemory memory = make_memory(small_config());
  std::vector<SequenceId> sequences;
  for (int i = 0; i < 3; ++i) sequences.push_back(memory.open().value());
  const Result<SequenceId> one_more = memory.open();
  ASSERT_FALSE(one_more.ok());
  EXPECT_EQ(one_more.error().code, ErrorCode::kResourceExhausted);
  ASSERT_TRUE(grow(memory, sequences[1], 40).ok());
  memory.close(sequences[1]);
  EXPECT_EQ(free_pages(memory), 6);
  const SequenceId again = memory.open().value();
  EXPECT_EQ(memory.length(again), 0);
  ASSERT_SOUND(memory);
}

TEST(SequenceMemory, ASequenceMayEndInsideItsStep) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  memory.begin_step();
  ASSERT_TRUE(memory.append(a, tokens_of(1, 20)).ok());
  ASSERT_TRUE(memory.append(b, tokens_of(2, 20)).ok());
  memory.close(a);
  const SequenceId c = memory.open().value();  // in the place of a
  memory.commit_step();
  EXPECT_EQ(memory.length(c), 0);
  EXPECT_EQ(memory.length(b), 20);
  EXPECT_EQ(free_pages(memory), 4);
  ASSERT_SOUND(memory);
}

TEST(SequenceMemory, AfterABurstPagesComeInOrderAgain) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(grow(memory, a, 16).ok());
    ASSERT_TRUE(grow(memory, b, 16).ok());
  }
  memory.close(b);
  memory.close(a);
  const SequenceId c = memory.open().value();
  ASSERT_TRUE(grow(memory, c, 40).ok());
  EXPECT_THAT(pages_of(memory, c), ElementsAre(0, 1, 2));
}

TEST(SequenceMemory, PagesCanBePlaced) {
  SequenceMemory memory = make_memory(small_config());
  memory.order_free_pages(std::vector<int32_t>{4, 1, 5});
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  ASSERT_TRUE(grow(memory, a, 16).ok());
  EXPECT_THAT(pages_of(memory, a), ElementsAre(4, 1, 5, 0));
}

TEST(SequenceMemory, RoomIsToldBeforeItIsTaken) {
  SequenceMemory memory = make_memory(small_config());
  EXPECT_EQ(memory.available().groups[0], 6);
  EXPECT_EQ(memory.needed_for(33).groups[0], 3);
  const SequenceId a = memory.open().value();
  EXPECT_EQ(memory.needed(a, 33).groups[0], 3);
  ASSERT_TRUE(grow(memory, a, 33).ok());
  EXPECT_EQ(memory.needed(a, 15).groups[0], 0);
  EXPECT_EQ(memory.needed(a, 16).groups[0], 1);
  PageCounts both = memory.needed(a, 16);
  both += memory.needed_for(40);
  EXPECT_FALSE(both.fits(memory.available()));
  EXPECT_TRUE(memory.needed_for(40).fits(memory.available()));
}

TEST(SequenceMemoryDeathTest, AClosedSequenceIsNotUsed) {
  SequenceMemory memory = make_memory(small_config());
  const SequenceId a = memory.open().value();
  memory.close(a);
  EXPECT_DEATH(memory.close(a), "check failed");
  EXPECT_DEATH((void)memory.length(SequenceId{}), "check failed");
  const SequenceId b = memory.open().value();
  EXPECT_DEATH(memory.truncate(b, 1), "check failed");
  memory.begin_step();
  ASSERT_TRUE(memory.append(b, tokens_of(1, 1)).ok());
  EXPECT_DEATH((void)memory.append(b, tokens_of(1, 1)), "check failed");
}

}  // namespace
}  // namespace quire

#include "memory/kv_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace quire {
namespace {

using testing::ElementsAre;

KvMemoryConfig small_config() {
  return {.needs = {AttentionNeed{.n_head_kv = 2, .d_k = 8, .d_v = 4},
                    AttentionNeed{.n_head_kv = 1, .d_k = 8, .d_v = 8, .window = 20}},
          .element_bytes = 2,
          .n_pages = 6,
          .max_sequences = 3,
          .max_positions = 64,
          .max_step_tokens = 40};
}

KvMemory make(const KvMemoryConfig& config) {
  Result<KvMemory> memory = KvMemory::create(config);
  return std::move(memory).value();
}

// Appends in a step of its own.
Status grow(KvMemory& memory, SequenceId sequence, int64_t n_tokens) {
  memory.begin_step();
  return memory.append(sequence, n_tokens);
}

TEST(KvMemory, PagesForRoundsUp) {
  EXPECT_EQ(KvMemory::pages_for(0), 0);
  EXPECT_EQ(KvMemory::pages_for(1), 1);
  EXPECT_EQ(KvMemory::pages_for(16), 1);
  EXPECT_EQ(KvMemory::pages_for(17), 2);
}

TEST(KvMemory, ADryMemoryReportsTheSameBytesWithNothingAllocated) {
  KvMemoryConfig config = small_config();
  const KvMemory real = make(config);
  config.allocation = Allocation::kDry;
  const KvMemory dry = make(config);
  // 6 pages x 16 positions x 2 bytes x (2 heads x (8 + 4) + 1 head x (8 + 8)) values.
  EXPECT_EQ(real.kv_bytes(), size_t{6 * 16 * 2 * (2 * 12 + 16)});
  EXPECT_EQ(dry.kv_bytes(), real.kv_bytes());
  EXPECT_EQ(dry.page_bytes(), size_t{16 * 2 * (2 * 12 + 16)});
  EXPECT_EQ(dry.table_bytes(), real.table_bytes());
  EXPECT_EQ(dry.layer_page_stride(1), real.layer_page_stride(1));
  EXPECT_NE(real.layer_pages(0), nullptr);
  EXPECT_EQ(dry.layer_pages(0), nullptr);
}

TEST(KvMemory, ADryMemoryKeepsTheSameBooks) {
  KvMemoryConfig config = small_config();
  config.allocation = Allocation::kDry;
  KvMemory memory = make(config);
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  EXPECT_EQ(memory.free_pages(), 3);
  EXPECT_TRUE(memory.check().ok());
}

// Every layer's pages lie apart from every other's: each byte of the region belongs to one page of one layer.
TEST(KvMemory, LayersShareTheRegionWithoutOverlap) {
  const KvMemoryConfig config = small_config();
  const KvMemory memory = make(config);
  const auto value_at = [](size_t layer, int32_t page) {
    return static_cast<uint8_t>(layer * 100 + page + 1);
  };
  for (size_t layer = 0; layer < config.needs.size(); ++layer) {
    for (int32_t page = 0; page < config.n_pages; ++page) {
      std::memset(memory.layer_pages(layer) + static_cast<size_t>(page) * memory.layer_page_stride(layer),
                  value_at(layer, page), memory.layer_page_stride(layer));
    }
  }
  for (size_t layer = 0; layer < config.needs.size(); ++layer) {
    for (int32_t page = 0; page < config.n_pages; ++page) {
      const std::byte* at =
          memory.layer_pages(layer) + static_cast<size_t>(page) * memory.layer_page_stride(layer);
      for (size_t i = 0; i < memory.layer_page_stride(layer); ++i) {
        ASSERT_EQ(at[i], std::byte{value_at(layer, page)}) << layer << " " << page << " " << i;
      }
    }
  }
}

TEST(KvMemory, StepTablesFollowThePages) {
  KvMemory memory = make(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 15).ok());  // page 0
  ASSERT_TRUE(grow(memory, b, 17).ok());  // pages 1, 2

  memory.begin_step();
  ASSERT_TRUE(memory.append(a, 3).ok());  // position 15 in page 0, then page 3
  ASSERT_TRUE(memory.append(b, 1).ok());
  const StepTables tables = memory.tables();
  EXPECT_THAT(tables.positions, ElementsAre(15, 16, 17, 17));
  EXPECT_THAT(tables.slots, ElementsAre(15, 3 * 16, 3 * 16 + 1, 2 * 16 + 1));
  ASSERT_EQ(tables.spans.size(), 2u);
  EXPECT_EQ(tables.spans[0].row_begin, 0);
  EXPECT_EQ(tables.spans[0].row_end, 3);
  EXPECT_THAT(std::vector<int32_t>(tables.spans[0].table, tables.spans[0].table + 2), ElementsAre(0, 3));
  EXPECT_EQ(tables.spans[1].row_begin, 3);
  EXPECT_EQ(tables.spans[1].row_end, 4);
  EXPECT_THAT(std::vector<int32_t>(tables.spans[1].table, tables.spans[1].table + 2), ElementsAre(1, 2));

  memory.begin_step();
  EXPECT_TRUE(memory.tables().positions.empty());
  EXPECT_TRUE(memory.tables().spans.empty());
}

TEST(KvMemory, TablesStayWhereTheyAre) {
  KvMemory memory = make(small_config());
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 1).ok());
  const int32_t* table = memory.tables().spans[0].table;
  const int32_t* positions = memory.tables().positions.data();
  const int64_t* slots = memory.tables().slots.data();
  ASSERT_TRUE(grow(memory, a, 39).ok());  // nothing is reallocated at the largest step either
  EXPECT_EQ(memory.tables().spans[0].table, table);
  EXPECT_EQ(memory.tables().positions.data(), positions);
  EXPECT_EQ(memory.tables().slots.data(), slots);
}

TEST(KvMemory, WhatDoesNotFitIsRefusedAndChangesNothing) {
  KvMemory memory = make(small_config());
  const SequenceId a = memory.open().value();
  const SequenceId b = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  ASSERT_TRUE(grow(memory, a, 20).ok());  // 60 of 64 positions, 4 of 6 pages

  memory.begin_step();
  ASSERT_TRUE(memory.append(a, 1).ok());
  const auto expect_refused = [&](SequenceId sequence, int64_t n_tokens, ErrorCode code) {
    const int64_t length = memory.length(sequence);
    const int32_t n_free = memory.free_pages();
    const Status status = memory.append(sequence, n_tokens);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, code) << status.error().message;
    EXPECT_EQ(memory.length(sequence), length);
    EXPECT_EQ(memory.free_pages(), n_free);
    EXPECT_EQ(memory.tables().positions.size(), 1u);
    EXPECT_EQ(memory.tables().spans.size(), 1u);
    EXPECT_TRUE(memory.check().ok());
  };
  expect_refused(a, 4, ErrorCode::kContextLength);
  expect_refused(b, 65, ErrorCode::kContextLength);
  expect_refused(b, 40, ErrorCode::kResourceExhausted);  // the step is one token short
  expect_refused(b, 33, ErrorCode::kResourceExhausted);  // three pages, two are free
  EXPECT_TRUE(memory.append(b, 32).ok());
  EXPECT_EQ(memory.free_pages(), 0);
}

TEST(KvMemory, TruncateGivesWholePagesBackAtOnce) {
  KvMemory memory = make(small_config());
  const SequenceId a = memory.open().value();
  ASSERT_TRUE(grow(memory, a, 40).ok());
  memory.truncate(a, 33);
  EXPECT_EQ(memory.free_pages(), 3);
  memory.truncate(a, 32);
  EXPECT_EQ(memory.free_pages(), 4);
  memory.truncate(a, 5);
  EXPECT_EQ(memory.free_pages(), 5);
  memory.truncate(a, 0);
  EXPECT_EQ(memory.free_pages(), 6);
  EXPECT_EQ(memory.length(a), 0);
  ASSERT_TRUE(grow(memory, a, 2).ok());
  EXPECT_THAT(memory.tables().positions, ElementsAre(0, 1));
  EXPECT_TRUE(memory.check().ok());
}

TEST(KvMemory, ClosedSequencesMakeRoom) {
  KvMemory memory = make(small_config());
  std::vector<SequenceId> sequences;
  for (int i = 0; i < 3; ++i) sequences.push_back(memory.open().value());
  const Result<SequenceId> one_more = memory.open();
  ASSERT_FALSE(one_more.ok());
  EXPECT_EQ(one_more.error().code, ErrorCode::kResourceExhausted);
  ASSERT_TRUE(grow(memory, sequences[1], 40).ok());
  memory.close(sequences[1]);
  EXPECT_EQ(memory.free_pages(), 6);
  const SequenceId again = memory.open().value();
  EXPECT_EQ(memory.length(again), 0);
  EXPECT_TRUE(memory.check().ok());
}

TEST(KvMemory, AfterABurstPagesComeInOrderAgain) {
  KvMemory memory = make(small_config());
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
  EXPECT_THAT(std::vector<int32_t>(memory.tables().spans[0].table, memory.tables().spans[0].table + 3),
              ElementsAre(0, 1, 2));
}

TEST(KvMemoryDeathTest, AClosedSequenceIsNotUsed) {
  KvMemory memory = make(small_config());
  const SequenceId a = memory.open().value();
  memory.close(a);
  EXPECT_DEATH(memory.close(a), "check failed");
  EXPECT_DEATH((void)memory.length(SequenceId{}), "check failed");
  const SequenceId b = memory.open().value();
  EXPECT_DEATH(memory.truncate(b, 1), "check failed");
}

}  // namespace
}  // namespace quire

// KvMemory against a plain model of it, over operations drawn at random.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "memory/kv_memory.h"

namespace quire {
namespace {

constexpr int32_t kPages = 23;
constexpr int32_t kSequences = 5;
constexpr int64_t kMaxPositions = 150;
constexpr int64_t kMaxStepTokens = 60;

// The obvious implementation: a queue of free pages and a list of pages per sequence.
struct Reference {
  struct Sequence {
    int64_t length = 0;
    std::vector<int32_t> pages;
  };
  std::deque<int32_t> free_pages;
  std::map<int32_t, Sequence> open;  // by index

  Reference() {
    for (int32_t page = 0; page < kPages; ++page) free_pages.push_back(page);
  }
  bool append(Sequence& s, int64_t n_tokens, int64_t step_tokens, size_t step_spans) {
    const int64_t pages = (s.length + n_tokens + 15) / 16 - static_cast<int64_t>(s.pages.size());
    if (s.length + n_tokens > kMaxPositions || step_tokens + n_tokens > kMaxStepTokens ||
        step_spans == kSequences || pages > static_cast<int64_t>(free_pages.size())) {
      return false;
    }
    for (int64_t i = 0; i < pages; ++i) {
      s.pages.push_back(free_pages.front());
      free_pages.pop_front();
    }
    s.length += n_tokens;
    return true;
  }
  void truncate(Sequence& s, int64_t n_keep) {
    while (static_cast<int64_t>(s.pages.size()) * 16 >= n_keep + 16) {
      free_pages.push_back(s.pages.back());
      s.pages.pop_back();
    }
    s.length = n_keep;
  }
  void sort_when_idle() {
    if (free_pages.size() == kPages) std::sort(free_pages.begin(), free_pages.end());
  }
};

class RandomRun {
 public:
  explicit RandomRun(uint32_t seed) : random_(seed), memory_(create()) {}

  // One operation on both; gtest failures tell where they part.
  void step() {
    const uint32_t dice = random_() % 100;
    if (dice < 10) {
      open();
    } else if (reference_.open.empty()) {
      return;
    } else if (dice < 15) {
      const auto it = any_sequence();
      reference_.truncate(it->second, 0);
      reference_.sort_when_idle();
      memory_.close(SequenceId{it->first});
      reference_.open.erase(it);
    } else if (dice < 35) {
      const auto it = any_sequence();
      const int64_t n_keep = static_cast<int64_t>(random_() % static_cast<uint64_t>(it->second.length + 1));
      reference_.truncate(it->second, n_keep);
      memory_.truncate(SequenceId{it->first}, n_keep);
    } else {
      append_some();
    }
    compare();
  }

  const KvMemory& memory() const { return memory_; }
  int64_t n_refused() const { return n_refused_; }

 private:
  static KvMemory create() {
    Result<KvMemory> memory = KvMemory::create({.needs = {AttentionNeed{.n_head_kv = 1, .d_k = 2, .d_v = 2}},
                                                .n_pages = kPages,
                                                .max_sequences = kSequences,
                                                .max_positions = kMaxPositions,
                                                .max_step_tokens = kMaxStepTokens});
    return std::move(memory).value();
  }

  std::map<int32_t, Reference::Sequence>::iterator any_sequence() {
    auto it = reference_.open.begin();
    std::advance(it, random_() % reference_.open.size());
    return it;
  }

  void open() {
    const Result<SequenceId> opened = memory_.open();
    ASSERT_EQ(opened.ok(), reference_.open.size() < kSequences);
    if (!opened.ok()) return;
    ASSERT_EQ(reference_.open.count(opened->index), 0u);
    reference_.open[opened->index] = {};
  }

  // One step: some of the sequences grow.
  void append_some() {
    memory_.begin_step();
    int64_t n_rows = 0;
    size_t n_spans = 0;
    for (auto& [index, sequence] : reference_.open) {
      if (random_() % 2 == 0) continue;
      const int64_t n_tokens = random_() % 3 == 0 ? 1 + random_() % 50 : 1 + random_() % 3;
      const int64_t begin = sequence.length;
      const Status status = memory_.append(SequenceId{index}, n_tokens);
      ASSERT_EQ(status.ok(), reference_.append(sequence, n_tokens, n_rows, n_spans));
      if (!status.ok()) {
        ++n_refused_;
        continue;
      }
      const StepTables tables = memory_.tables();
      ASSERT_EQ(tables.positions.size(), static_cast<size_t>(n_rows + n_tokens));
      ASSERT_EQ(tables.slots.size(), tables.positions.size());
      ASSERT_EQ(tables.spans.size(), ++n_spans);
      const StepSpan& span = tables.spans.back();
      ASSERT_EQ(span.row_begin, n_rows);
      ASSERT_EQ(span.row_end, n_rows + n_tokens);
      for (int64_t i = 0; i < n_tokens; ++i) {
        const int64_t position = begin + i;
        const int32_t page = sequence.pages[static_cast<size_t>(position / 16)];
        ASSERT_EQ(tables.positions[static_cast<size_t>(n_rows + i)], position);
        ASSERT_EQ(tables.slots[static_cast<size_t>(n_rows + i)], int64_t{page} * 16 + position % 16);
        ASSERT_EQ(span.table[position / 16], page);
      }
      n_rows += n_tokens;
    }
  }

  void compare() {
    ASSERT_EQ(memory_.free_pages(), static_cast<int32_t>(reference_.free_pages.size()));
    for (const auto& [index, sequence] : reference_.open) {
      ASSERT_EQ(memory_.length(SequenceId{index}), sequence.length);
    }
    if (++n_compared_ % 50 == 0) {
      const Status status = memory_.check();
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
  }

  std::mt19937 random_;
  KvMemory memory_;
  Reference reference_;
  int64_t n_compared_ = 0;
  int64_t n_refused_ = 0;
};

TEST(KvMemoryRandom, AgreesWithThePlainModel) {
  RandomRun run(5);
  for (int i = 0; i < 100000 && !testing::Test::HasFatalFailure(); ++i) run.step();
  EXPECT_GT(run.n_refused(), 1000);  // full pools, steps and contexts were met
}

}  // namespace
}  // namespace quire

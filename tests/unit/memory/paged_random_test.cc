// SequenceMemory against plain models of it, over operations drawn at random.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>

#include "unit/memory/memory_case.h"

#ifndef QUIRE_RANDOM_OPERATIONS
#define QUIRE_RANDOM_OPERATIONS 30000
#endif

namespace quire {
namespace {

using namespace testing;  // the helpers of memory_case.h

// --- Without a prefix index every page number can be foretold ---

constexpr int32_t kPages = 23;
constexpr int32_t kSequences = 5;
constexpr int64_t kMaxPositions = 150;
constexpr int64_t kMaxStepTokens = 60;

// The obvious implementation: a queue of free pages, a list of pages per sequence, a number of holders.
struct PlainPages {
  struct Sequence {
    int64_t length = 0;
    std::vector<int32_t> pages;
  };
  std::deque<int32_t> free_pages;
  std::map<int32_t, int> holders;
  std::map<int32_t, Sequence> open;  // by index

  PlainPages() {
    for (int32_t page = 0; page < kPages; ++page) free_pages.push_back(page);
  }
  int32_t take() {
    const int32_t page = free_pages.front();
    free_pages.pop_front();
    holders[page] = 1;
    return page;
  }
  void release(int32_t page) {
    if (--holders[page] == 0) free_pages.push_back(page);
  }
  bool append(Sequence& s, int64_t n_tokens, int64_t step_tokens) {
    const bool copy = s.length % 16 != 0 && holders[s.pages.back()] > 1;
    const int64_t pages = (s.length + n_tokens + 15) / 16 - static_cast<int64_t>(s.pages.size());
    if (s.length + n_tokens > kMaxPositions || step_tokens + n_tokens > kMaxStepTokens ||
        pages + (copy ? 1 : 0) > static_cast<int64_t>(free_pages.size())) {
      return false;
    }
    const size_t last = s.pages.size() - 1;
    for (int64_t i = 0; i < pages; ++i) s.pages.push_back(take());
    if (copy) {
      const int32_t shared = s.pages[last];
      s.pages[last] = take();
      release(shared);
    }
    s.length += n_tokens;
    return true;
  }
  void truncate(Sequence& s, int64_t n_keep) {
    while (static_cast<int64_t>(s.pages.size()) * 16 >= n_keep + 16) {
      release(s.pages.back());
      s.pages.pop_back();
    }
    s.length = n_keep;
    if (free_pages.size() == kPages) std::sort(free_pages.begin(), free_pages.end());
  }
};

class PlainRun {
 public:
  explicit PlainRun(uint32_t seed)
      : random_(seed),
        memory_(make_memory({.needs = {checked_layer()},
                             .n_pages = kPages,
                             .max_sequences = kSequences,
                             .max_positions = kMaxPositions,
                             .max_step_tokens = kMaxStepTokens,
                             .prefix_cache = PrefixCache::kOff})) {}

  // One operation on both; gtest failures tell where they part.
  void operate() {
    const uint64_t dice = random_() % 100;
    if (dice < 10) {
      open();
    } else if (plain_.open.empty()) {
      return;
    } else if (dice < 14) {
      fork();
    } else if (dice < 22) {
      const auto it = any_sequence();
      plain_.truncate(it->second, 0);
      memory_.close(SequenceId{it->first});
      plain_.open.erase(it);
    } else if (dice < 40) {
      const auto it = any_sequence();
      const int64_t n_keep = static_cast<int64_t>(random_() % static_cast<uint64_t>(it->second.length + 1));
      plain_.truncate(it->second, n_keep);
      ASSERT_EQ(memory_.truncate(SequenceId{it->first}, n_keep), n_keep);
    } else {
      append_some();
    }
    compare();
  }

  int64_t n_refused() const { return n_refused_; }
  const SequenceMemory& memory() const { return memory_; }

 private:
  std::map<int32_t, PlainPages::Sequence>::iterator any_sequence() {
    auto it = plain_.open.begin();
    std::advance(it, random_() % plain_.open.size());
    return it;
  }

  void open() {
    const Result<SequenceId> opened = memory_.open();
    ASSERT_EQ(opened.ok(), plain_.open.size() < kSequences);
    if (opened.ok()) plain_.open[opened->index] = {};
  }

  void fork() {
    const auto it = any_sequence();
    const Result<SequenceId> forked = memory_.fork(SequenceId{it->first});
    ASSERT_EQ(forked.ok(), plain_.open.size() < kSequences);
    if (!forked.ok()) return;
    for (const int32_t page : it->second.pages) ++plain_.holders[page];
    plain_.open[forked->index] = it->second;
  }

  // One step: some of the sequences grow.
  void append_some() {
    memory_.begin_step();
    int64_t n_rows = 0;
    for (auto& [index, sequence] : plain_.open) {
      if (random_() % 2 == 0) continue;
      const int64_t n_tokens = random_() % 3 == 0 ? 1 + random_() % 50 : 1 + random_() % 3;
      const int64_t begin = sequence.length;
      const Status status =
          memory_.append(SequenceId{index}, tokens_of(static_cast<int32_t>(random_() % 9), n_tokens));
      ASSERT_EQ(status.ok(), plain_.append(sequence, n_tokens, n_rows));
      if (!status.ok()) {
        ++n_refused_;
        continue;
      }
      const StepTables tables = memory_.tables();
      ASSERT_EQ(tables.positions.size(), static_cast<size_t>(n_rows + n_tokens));
      const StepSpan& span = tables.groups[0].spans.back();
      ASSERT_EQ(span.row_begin, n_rows);
      ASSERT_EQ(span.row_end, n_rows + n_tokens);
      for (int64_t i = 0; i < n_tokens; ++i) {
        const int64_t position = begin + i;
        const int32_t page = sequence.pages[static_cast<size_t>(position / 16)];
        ASSERT_EQ(tables.positions[static_cast<size_t>(n_rows + i)], position);
        ASSERT_EQ(tables.groups[0].slots[static_cast<size_t>(n_rows + i)],
                  int64_t{page} * 16 + position % 16);
        ASSERT_EQ(span.table[position / 16], page);
      }
      n_rows += n_tokens;
    }
    compute_step(memory_, 1);
    memory_.commit_step();
  }

  void compare() {
    ASSERT_EQ(memory_.group(0).pool().n_free(), static_cast<int32_t>(plain_.free_pages.size()));
    for (const auto& [index, sequence] : plain_.open) {
      ASSERT_EQ(memory_.length(SequenceId{index}), sequence.length);
      expect_content(memory_, SequenceId{index}, 1);
    }
    if (++n_compared_ % 50 == 0) ASSERT_SOUND(memory_);
  }

  std::mt19937 random_;
  SequenceMemory memory_;
  PlainPages plain_;
  int64_t n_compared_ = 0;
  int64_t n_refused_ = 0;
};

TEST(PagedRandom, WithoutSharingEveryPageIsWhereAPlainModelPutsIt) {
  PlainRun run(5);
  for (int i = 0; i < QUIRE_RANDOM_OPERATIONS && !::testing::Test::HasFatalFailure(); ++i) run.operate();
  EXPECT_GT(run.n_refused(), QUIRE_RANDOM_OPERATIONS / 100);  // full pools, steps and contexts were met
  EXPECT_GT(run.memory().gauges().pages_copied, QUIRE_RANDOM_OPERATIONS / 1000);
}

// --- With it, what pages hold is compared, and what is found ---

struct SharedCase {
  const char* name;
  std::vector<int32_t> windows;  // of the layers; 0 = all
  int32_t n_pages;
  size_t max_cached_bytes;
  uint64_t (*hash)(const void* bytes, size_t n_bytes);
  int32_t n_state_layers = 0, max_draft = 0;
  size_t max_checkpoint_bytes = 1 << 20;
};

uint64_t weak_hash(const void* bytes, size_t n_bytes) {
  return static_cast<const uint8_t*>(bytes)[n_bytes - 64] % 3;
}

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
const SharedCase kSharedCases[] = {
    {"Full", {0}, 40, kNoLimit, nullptr},
    {"WeakHash", {0}, 40, kNoLimit, weak_hash},
    {"LargePool", {0}, 4000, kNoLimit, nullptr},
    {"SmallCache", {0, 0}, 40, 6 * 256, nullptr},
    {"Windowed", {0, 20, 20}, 40, kNoLimit, nullptr},
    {"OnlyWindows", {33}, 40, kNoLimit, nullptr},
    {"ThreeGroups", {0, 5, 50}, 60, 100 * 128, nullptr},
    {"States", {}, 40, kNoLimit, nullptr, 2, 0},
    {"Hybrid", {0}, 40, kNoLimit, nullptr, 1, 0},
    {"HybridWithDrafts", {0, 20}, 40, kNoLimit, nullptr, 2, 3},
    {"FewCheckpoints", {0}, 40, kNoLimit, nullptr, 1, 2, 4 * 192},
    {"NoCheckpoints", {0}, 40, kNoLimit, nullptr, 1, 1, 0},
};

class SharedRun {
 public:
  SharedRun(const SharedCase& c, uint32_t seed)
      : random_(seed),
        n_layers_(c.windows.size() + static_cast<size_t>(c.n_state_layers)),
        memory_(create(c)) {}

  void operate() {
    const uint64_t dice = random_() % 1000;
    if (dice < 120) {
      open();
    } else if (dice < 999 && open_.empty()) {
      return;
    } else if (dice < 150) {
      fork();
    } else if (dice < 220) {
      const size_t i = random_() % open_.size();
      memory_.close(open_[i].id);
      open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
    } else if (dice < 320) {
      truncate();
    } else if (dice < 325) {
      spill_and_restore();
    } else if (dice < 330) {
      memory_.withdraw(open_[random_() % open_.size()].id);
    } else if (dice < 999) {
      append_some();
    } else {
      memory_.clear_cache();
    }
    compare();
  }
  const SequenceMemory& memory() const { return memory_; }

 private:
  struct Open {
    SequenceId id = {};
    PrefixScope scope = {};
    std::vector<int32_t> tokens = {};  // held
    std::vector<int32_t> rest = {};    // of the prompt
  };

  static SequenceMemory create(const SharedCase& c) {
    MemoryConfig config = {.n_pages = c.n_pages,
                           .n_spill_pages = 8,
                           .max_sequences = kSequences,
                           .max_positions = kMaxPositions,
                           .max_step_tokens = kMaxStepTokens,
                           .max_draft = c.max_draft,
                           .checkpoint_every = 16,
                           .max_checkpoint_bytes = c.max_checkpoint_bytes,
                           .max_cached_bytes = c.max_cached_bytes,
                           .prefix_hash = c.hash};
    for (const int32_t window : c.windows) config.needs.push_back(checked_layer(window));
    for (int32_t i = 0; i < c.n_state_layers; ++i) config.needs.push_back(checked_state());
    return make_memory(config);
  }

  // Prompts that often begin alike: a walk down a small tree, then something of their own.
  std::vector<int32_t> draw_prompt() {
    std::vector<int32_t> prompt;
    while (prompt.size() < 100 && random_() % 8 != 0) {
      const auto kind = static_cast<int32_t>(random_() % 2);
      const size_t n = 1 + random_() % 24;
      for (size_t i = 0; i < n; ++i) prompt.push_back(kind * 50 + static_cast<int32_t>(i % 3));
    }
    prompt.push_back(static_cast<int32_t>(random_() % 3));
    return prompt;
  }

  void open() {
    Open o{.scope = PrefixScope::create(std::to_string(random_() % 2)).value(), .rest = draw_prompt()};
    const PrefixMatch match = memory_.match(o.scope, o.rest);
    const Result<SequenceId> opened = memory_.open(o.scope);
    ASSERT_EQ(opened.ok(), open_.size() < kSequences);
    if (!opened.ok()) return;
    o.id = *opened;
    const int64_t shared = memory_.attach(o.id, o.rest);
    ASSERT_EQ(shared, match.cached);
    ASSERT_LT(shared, static_cast<int64_t>(o.rest.size()));
    if (tracking_) {
      const int64_t known = known_pages(o.scope, o.rest);
      ASSERT_LT(shared, known + 16);
      if (goes_back_anywhere() && memory_.gauges().evictions == 0) {
        ASSERT_GE(shared, std::min(known, static_cast<int64_t>(o.rest.size()) - 1));
      }
    }
    const auto middle = o.rest.begin() + shared;
    o.tokens.assign(o.rest.begin(), middle);
    o.rest.erase(o.rest.begin(), middle);
    open_.push_back(std::move(o));
  }

  void fork() {
    const Open& from = open_[random_() % open_.size()];
    const Result<SequenceId> forked = memory_.fork(from.id);
    ASSERT_EQ(forked.ok(), open_.size() < kSequences);
    if (!forked.ok()) return;
    Open o = from;
    o.id = *forked;
    open_.push_back(std::move(o));
  }

  void truncate() {
    Open& o = open_[random_() % open_.size()];
    const auto n_keep = static_cast<int64_t>(random_() % (o.tokens.size() + 1));
    const int64_t kept = memory_.truncate(o.id, n_keep);
    ASSERT_LE(kept, n_keep);
    if (goes_back_anywhere()) {
      ASSERT_EQ(kept, n_keep);
    }
    o.tokens.resize(static_cast<size_t>(kept));
    if (random_() % 2 == 0) o.rest.clear();
  }

  bool goes_back_anywhere() const {
    return memory_.n_groups() == 1 && memory_.group(0).window() == 0 && memory_.states() == nullptr;
  }

  // With others in between that may take the pages.
  void spill_and_restore() {
    const Open o = open_[random_() % open_.size()];
    if (!memory_.spill(o.id).ok()) return;
    const Result<SequenceId> other = memory_.open();
    if (other.ok()) {
      const std::vector<int32_t> tokens = draw_prompt();
      memory_.begin_step();
      if (tokens.size() <= kMaxStepTokens && memory_.append(*other, tokens).ok())
        compute_step(memory_, n_layers_);
      memory_.commit_step();
      ASSERT_SOUND(memory_);
      memory_.close(*other);
    }
    ASSERT_TRUE(memory_.restore(o.id).ok());
  }

  void append_some() {
    memory_.begin_step();
    for (Open& o : open_) {
      if (random_() % 2 == 0) continue;
      const size_t n = random_() % 3 == 0 ? 1 + random_() % 50 : 1 + random_() % 3;
      std::vector<int32_t> tokens(o.rest.begin(),
                                  o.rest.begin() + static_cast<ptrdiff_t>(std::min(n, o.rest.size())));
      while (tokens.size() < n) tokens.push_back(static_cast<int32_t>(random_() % 3));
      const PageCounts needed = memory_.needed(o.id, static_cast<int64_t>(n));
      const PageCounts available = memory_.available();
      const Status status = memory_.append(o.id, tokens);
      if (!status.ok()) {
        ASSERT_TRUE(!needed.fits(available) || o.tokens.size() + n > kMaxPositions ||
                    memory_.tables().positions.size() + n > kMaxStepTokens);
        continue;
      }
      ASSERT_TRUE(needed.fits(available));
      o.tokens.insert(o.tokens.end(), tokens.begin(), tokens.end());
      o.rest.erase(o.rest.begin(), o.rest.begin() + static_cast<ptrdiff_t>(std::min(n, o.rest.size())));
    }
    compute_step(memory_, n_layers_);
    if (random_() % 10 == 0 && !open_.empty()) truncate();  // refused drafts, or a cancel
    memory_.commit_step();
    tracking_ = known_.size() < 20000;
    for (const Open& o : open_) {
      if (!tracking_) break;
      for (size_t n = 16; n <= o.tokens.size(); n += 16)
        known_.emplace(o.scope.bytes(),
                       std::vector(o.tokens.begin(), o.tokens.begin() + static_cast<ptrdiff_t>(n)));
    }
  }

  // The beginning of the prompt, in whole pages, that some sequence of its scope has held.
  int64_t known_pages(const PrefixScope& scope, const std::vector<int32_t>& prompt) const {
    size_t n = 16;
    while (n <= prompt.size() &&
           known_.contains({scope.bytes(), {prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(n)}}))
      n += 16;
    return static_cast<int64_t>(n) - 16;
  }

  void compare() {
    for (const Open& o : open_) {
      const std::span<const int32_t> held = memory_.tokens(o.id);
      ASSERT_TRUE(std::ranges::equal(held, o.tokens));
      expect_content(memory_, o.id, n_layers_);
    }
    if (++n_compared_ % 20 == 0) ASSERT_SOUND(memory_);
  }

  std::mt19937 random_;
  size_t n_layers_;
  SequenceMemory memory_;
  std::vector<Open> open_;
  std::set<std::pair<std::array<uint8_t, 64>, std::vector<int32_t>>> known_;  // scope, whole pages
  bool tracking_ = true;
  int64_t n_compared_ = 0;
};

class PagedRandomShared : public ::testing::TestWithParam<SharedCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, PagedRandomShared, ::testing::ValuesIn(kSharedCases),
                         [](const auto& c) { return std::string(c.param.name); });

TEST_P(PagedRandomShared, EverySequenceSeesItsOwnTokens) {
  constexpr int kOperations = QUIRE_RANDOM_OPERATIONS / 5;
  SharedRun run(GetParam(), 7);
  for (int i = 0; i < kOperations && !::testing::Test::HasFatalFailure(); ++i) run.operate();
  const MemoryGauges gauges = run.memory().gauges();
  const bool states = GetParam().n_state_layers > 0;
  if (states && GetParam().max_checkpoint_bytes == 0) {
    EXPECT_EQ(gauges.hits, 0);
  } else {
    EXPECT_GT(gauges.hits, states ? kOperations / 2000 : kOperations / 200);
  }
  if (states) {
    EXPECT_GT(gauges.states.copied, kOperations / 200);
    EXPECT_EQ(gauges.states.evictions > 0, gauges.states.checkpoints > 0);
  }
  if (GetParam().windows.empty()) return;
  EXPECT_GT(gauges.pages_copied, kOperations / 200);
  EXPECT_GT(gauges.pages_merged, kOperations / 2000);
  if (GetParam().n_pages < 1000) {
    EXPECT_GT(gauges.evictions, kOperations / 200);
  }
}

}  // namespace
}  // namespace quire

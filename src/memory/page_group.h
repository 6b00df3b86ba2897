// PageGroup: the pages and block tables of the layers that need the same: all positions, or a window of them.
//
// Owns one region with every layer's pages (layer after layer; page p of a layer at its base + p * stride),
// their pool, and a block table for each sequence. One page number stands for the same 16 positions in every
// layer of the group. A sequence holds the pages [first, end) of its table; entries outside are -1 and never
// read. Pages known to a PrefixIndex are never written: who has to write one writes a copy. Part of
// SequenceMemory, which passes the sequence's index and length; one thread at a time; never allocates after
// creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory_region.h"
#include "base/result.h"
#include "memory/page_pool.h"
#include "memory/sequence_id.h"

namespace quire {

inline constexpr int32_t kPagePositions = 16;

// Pages that hold this many positions.
constexpr int64_t pages_for(int64_t positions) { return (positions + kPagePositions - 1) / kPagePositions; }
inline constexpr size_t kMaxPageGroups = 4;  // different windows in one model

class PrefixIndex;

// The rows one sequence has in the step.
struct StepSpan {
  int32_t row_begin = 0, row_end = 0;
  const int32_t* table = nullptr;  // page of positions [16 i, 16 i + 16)
};

// Index tables that all layers of a group read in a step.
struct GroupTables {
  std::span<const int64_t> slots;  // [n_tokens] page * 16 + position % 16
  std::span<const StepSpan> spans;
};

struct PageGroupConfig {
  int32_t number = 0;                     // of the group in the prefix index
  int32_t window = 0;                     // positions a query sees, itself included; 0 = all
  std::vector<size_t> page_strides = {};  // by layer of the group
  int32_t n_pages = 0;
  int32_t n_spill_pages = 0;  // of the area that pages can be copied out to
  int32_t max_cached = 0;     // pages without a holder that may stay
  int32_t max_sequences = 1;
  int64_t max_positions = 0;
  int64_t max_step_tokens = 1;
  Allocation allocation = Allocation::kReal;

  size_t page_bytes() const;  // of all layers
};

class PageGroup {
 public:
  // Errors: kResourceExhausted.
  static Result<PageGroup> create(const PageGroupConfig& config);

  int32_t number() const { return config_.number; }
  int32_t window() const { return config_.window; }
  const PagePool& pool() const { return pool_; }
  int32_t available() const { return pool_.n_free() + pool_.n_cached(); }
  size_t bytes() const { return region_.size(); }
  size_t page_bytes() const { return config_.page_bytes(); }
  size_t spill_bytes() const { return spill_region_.size(); }
  size_t table_bytes() const;
  std::byte* layer_pages(size_t layer) const;  // null when dry
  size_t layer_page_stride(size_t layer) const { return config_.page_strides[layer]; }
  void fault_in() const;

  // --- Pages of one sequence ---
  int32_t first_page(int32_t sequence) const { return held(sequence).first; }
  int32_t end_page(int32_t sequence) const { return held(sequence).end; }
  int32_t page(int32_t sequence, int32_t i) const { return table(sequence)[i]; }
  // First page that the query after `length` positions still needs.
  int32_t first_needed(int64_t length) const;
  // Pages that growing from `length` by n_tokens takes.
  int32_t needed(int32_t sequence, int64_t length, int64_t n_tokens) const;
  // Most pages a sequence of n_tokens holds while it grows by at most max_step_tokens at a time.
  int32_t needed_for(int64_t n_tokens) const;

  // Takes those pages, free ones in their order, then evicted ones in ascending order, and copies the last
  // page if others may read it; needed() must be available.
  void grow(int32_t sequence, int64_t length, int64_t n_tokens, PrefixIndex& index);
  // Adds the rows of the last n_tokens positions to the step.
  void add_rows(int32_t sequence, int64_t length, int64_t n_tokens);
  // Makes `end` the end of the table and `first` its first page or later than that: takes hold of pages that
  // are missing at the front (page i is that of node path[i]), then gives back those behind the end, last one
  // first. Returns how many came at the front.
  int32_t hold(int32_t sequence, int32_t first, int32_t end, std::span<const int32_t> path,
               PrefixIndex& index);
  void fork(int32_t from, int32_t to);
  // Gives back the pages before `first`: they have left the window. Those that others need, who continue from
  // within a window behind them, stay cached longest; `tip` is the node of the sequence's last full page.
  void release_before(int32_t sequence, int32_t first, int32_t tip, PrefixIndex& index);
  enum class Indexed : uint8_t { kAdded, kMerged, kUnchanged };
  // Page i of the sequence is full: makes it the node's page, or, where the node has one already, holds that
  // one instead.
  Indexed index_page(int32_t sequence, int32_t i, int32_t node, PrefixIndex& index);

  // --- Spilling (page_spill.cc). A spilled sequence can only be restored or dropped. ---
  bool can_spill(int32_t sequence) const;
  int32_t n_spilled() const { return spill_pool_.n_held(); }
  // Copies the sequence's pages out and gives them back.
  void spill(int32_t sequence, PrefixIndex& index);
  // Pages that restore() takes: those of which path's nodes do not name one that is held anyway.
  int32_t needed_to_restore(int32_t sequence, std::span<const int32_t> path, const PrefixIndex& index) const;
  // Makes the table what it was: takes hold of pages that path's nodes still name, copies the others back.
  void restore(int32_t sequence, std::span<const int32_t> path, PrefixIndex& index);
  void drop_spilled(int32_t sequence);

  // --- Steps ---
  void begin_step();
  GroupTables tables() const { return {.slots = slots_, .spans = spans_}; }

  // --- Upkeep ---
  void clear_cache(PrefixIndex& index);
  void order_free(std::span<const int32_t> order) { pool_.order_free(order); }
  void sort_if_idle();
  int64_t n_copied() const { return n_copied_; }
  int64_t n_evicted() const { return n_evicted_; }
  // Holders equal owners, no page twice in a table, pages and index name each other. Errors: kInternal.
  Status check(const PrefixIndex& index) const;

 private:
  struct Held {
    int32_t first = 0, end = 0;
    bool spilled = false;  // the table names pages of the spill area
  };
  explicit PageGroup(const PageGroupConfig& config);
  const Held& held(int32_t sequence) const { return held_[static_cast<size_t>(sequence)]; }
  Held& held(int32_t sequence) { return held_[static_cast<size_t>(sequence)]; }
  const int32_t* table(int32_t sequence) const {
    return tables_.data() + static_cast<size_t>(sequence) * table_stride_;
  }
  int32_t* table(int32_t sequence) { return tables_.data() + static_cast<size_t>(sequence) * table_stride_; }
  int32_t& node_of(int32_t page) { return nodes_[static_cast<size_t>(page)]; }
  int32_t node_of(int32_t page) const { return nodes_[static_cast<size_t>(page)]; }
  int32_t take(PrefixIndex& index);
  void evict_oldest(PrefixIndex& index);
  void forget(int32_t page, PrefixIndex& index);
  void release(int32_t page, PrefixIndex& index, PagePool::Then cached = PagePool::Then::kCache);
  bool branches_after(int32_t i, int32_t tip, const PrefixIndex& index) const;
  void copy_page(int32_t from, int32_t to);
  int32_t known_page(std::span<const int32_t> path, int32_t i, const PrefixIndex& index) const;
  enum class Direction : uint8_t { kOut, kBack };
  void copy_spilled(int32_t page, int32_t spill_page, Direction direction);

  PageGroupConfig config_;
  PagePool pool_;
  PagePool spill_pool_;
  MemoryRegion region_, spill_region_;
  std::vector<size_t> bases_;    // by layer, bytes
  size_t table_stride_ = 0;      // entries of one block table
  std::vector<int32_t> tables_;  // [max_sequences, table_stride_]
  std::vector<Held> held_;       // [max_sequences]
  std::vector<int32_t> nodes_;   // by page: its node in the prefix index, or -1
  std::vector<int64_t> slots_;   // of the step
  std::vector<StepSpan> spans_;
  int64_t n_copied_ = 0, n_evicted_ = 0;
};

}  // namespace quire

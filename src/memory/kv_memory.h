// KvMemory: the keys and values of all sequences, in pages of 16 positions drawn from one pool.
//
// Owns one region with every layer's pages (layer after layer; page p of a layer at its base + p * stride),
// the pool and the block tables. Every buffer is sized at creation; sequences come, grow, shrink and go
// without allocating. A dry memory reports the same bytes and runs the same bookkeeping with no region behind
// it. One page number stands for the same 16 positions in every layer. Windowed layers keep all their pages
// for now. One thread at a time (the engine's); kernels write pages through the pointers handed out, on
// disjoint slots.
//
//   QUIRE_ASSIGN_OR_RETURN(KvMemory memory, KvMemory::create({.needs = needs, .n_pages = 64, ...}));
//   QUIRE_ASSIGN_OR_RETURN(SequenceId sequence, memory.open());
//   memory.begin_step();
//   QUIRE_RETURN_IF_ERROR(memory.append(sequence, n_tokens));  // tables().positions, .slots, .spans now
//   cover them
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory_region.h"
#include "base/result.h"
#include "memory/layer_needs.h"
#include "memory/page_pool.h"

namespace quire {

inline constexpr int32_t kPagePositions = 16;

struct KvMemoryConfig {
  LayerNeeds needs;
  int32_t element_bytes = 2;    // of stored keys and values
  int32_t n_pages = 0;          // in the pool, shared by all sequences
  int32_t max_sequences = 1;    // open at the same time
  int64_t max_positions = 0;    // of one sequence
  int64_t max_step_tokens = 1;  // appended between two begin_step()
  Allocation allocation = Allocation::kReal;
};

struct SequenceId {
  int32_t index = -1;
  friend bool operator==(SequenceId, SequenceId) = default;
};

// The rows one sequence has in the step.
struct StepSpan {
  int32_t row_begin = 0, row_end = 0;
  const int32_t* table = nullptr;  // page of positions [16 i, 16 i + 16)
};

// Index tables of the step being built, valid until the next begin_step().
struct StepTables {
  std::span<const int32_t> positions;  // [n_tokens]
  std::span<const int64_t> slots;      // [n_tokens] page * 16 + position % 16
  std::span<const StepSpan> spans;
};

class KvMemory {
 public:
  // Pages that hold `positions` positions.
  static int64_t pages_for(int64_t positions) { return (positions + kPagePositions - 1) / kPagePositions; }

  // Errors: kResourceExhausted.
  static Result<KvMemory> create(const KvMemoryConfig& config);

  size_t page_bytes() const {
    return static_cast<size_t>(region_.size()) / static_cast<size_t>(pool_.n_pages());
  }
  size_t kv_bytes() const { return region_.size(); }  // all layers' pages
  size_t table_bytes() const;                         // block tables and step tables
  void fault_in() const { region_.fault_in(0, region_.size()); }

  // Base and stride of a layer's pages, by index into the needs. Null base when dry.
  std::byte* layer_pages(size_t layer) const;
  size_t layer_page_stride(size_t layer) const { return strides_[layer]; }

  // Errors: kResourceExhausted when max_sequences are open.
  Result<SequenceId> open();
  // Gives all pages back.
  void close(SequenceId sequence);
  int64_t length(SequenceId sequence) const { return state(sequence).length; }

  void begin_step();
  // Makes room for n_tokens more positions of `sequence` and adds their rows to the step: all or nothing. A
  // step holds up to max_sequences spans. Errors: kContextLength (over max_positions), kResourceExhausted
  // (pool empty, step full); nothing has changed then.
  Status append(SequenceId sequence, int64_t n_tokens);
  StepTables tables() const;

  // Forgets positions from n_keep on; pages behind the last kept position go back at once. Tables of the
  // current step that name them are void.
  void truncate(SequenceId sequence, int64_t n_keep);

  int32_t free_pages() const { return pool_.n_free(); }
  int32_t total_pages() const { return pool_.n_pages(); }
  // Free pages + pages in tables = pool, no page twice. Errors: kInternal naming what broke.
  Status check() const;

 private:
  struct Sequence {
    bool open = false;
    int64_t length = 0;
    int32_t n_pages = 0;
  };
  explicit KvMemory(const KvMemoryConfig& config);
  Sequence& state(SequenceId sequence);
  const Sequence& state(SequenceId sequence) const;
  int32_t* table(SequenceId sequence) {
    return tables_.data() + static_cast<size_t>(sequence.index) * table_stride_;
  }
  const int32_t* table(SequenceId sequence) const {
    return tables_.data() + static_cast<size_t>(sequence.index) * table_stride_;
  }

  int64_t max_positions_ = 0;
  size_t max_step_tokens_ = 0;
  PagePool pool_;
  MemoryRegion region_;
  std::vector<size_t> bases_, strides_;  // by layer, bytes
  size_t table_stride_ = 0;              // entries of one block table
  std::vector<int32_t> tables_;          // [max_sequences, table_stride_]
  std::vector<Sequence> sequences_;
  std::vector<int32_t> positions_;  // of the step
  std::vector<int64_t> slots_;
  std::vector<StepSpan> spans_;
};

}  // namespace quire

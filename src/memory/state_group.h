// StateGroup: the states of the layers that remember a sequence as one fixed-size state, whatever its length.
//
// Owns one region of slots; a slot holds the state of one sequence at one length, of all layers together.
// A sequence advances in planes of its own: the state after p positions lies in plane p % n_planes, so that
// with n_planes = max_draft + 1 the newest max_draft positions can be taken back without computing anything.
// Behind the planes lie checkpoints, shared by all: states at positions where a page ends, which a step
// leaves behind on its way through (the tables of the step name the slot that takes the state after each
// row, so nothing is copied). Every checkpoint_every positions, and where a prompt ends, a checkpoint becomes
// findable in the PrefixIndex; so does the one at a sequence's last full page when it is closed. Findable
// checkpoints are never written; without a holder they stay, cached, until others need the slot.
//
// What it cannot undo: going back to a length for which neither a plane nor a checkpoint is left. longest()
// says which length can be reached; from there the caller computes again. Part of SequenceMemory, which
// passes the sequence's index; one thread at a time; never allocates after creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory_region.h"
#include "base/result.h"
#include "memory/page_pool.h"
#include "memory/prefix_index.h"

namespace quire {

struct StateGroupConfig {
  int32_t number = 0;                      // in the prefix index
  std::vector<int64_t> layer_floats = {};  // by layer of the group, multiples of 16
  int32_t n_checkpoints = 0;
  int64_t checkpoint_every = kPagePositions;  // positions, a multiple of kPagePositions
  int32_t max_draft = 0;                      // newest positions that can always be taken back
  int32_t max_sequences = 1;
  int64_t max_step_tokens = 1;
  Allocation allocation = Allocation::kReal;

  int64_t slot_floats() const;
};

// The rows one sequence has in the step.
struct StateSpan {
  int32_t row_begin = 0, row_end = 0;
  int32_t source = -1;  // slot of the state before them; -1 = nothing yet, which is all zeros
};

// Index tables that all layers of the group read in a step.
struct StateTables {
  std::span<const int32_t> slots;  // [n_tokens] that take the state after each row
  std::span<const StateSpan> spans;
};

class StateGroup {
 public:
  // Errors: kResourceExhausted.
  static Result<StateGroup> create(const StateGroupConfig& config);

  size_t slot_bytes() const { return static_cast<size_t>(config_.slot_floats()) * sizeof(float); }
  size_t sequence_bytes() const { return slot_bytes() * static_cast<size_t>(n_own()); }
  size_t checkpoint_bytes() const { return slot_bytes() * static_cast<size_t>(config_.n_checkpoints); }
  size_t table_bytes() const;
  const PagePool& checkpoints() const { return pool_; }
  int32_t max_draft() const { return config_.max_draft; }
  float* layer_states(size_t layer) const;  // slot s at + s * slot_floats(); null when dry
  int64_t slot_floats() const { return config_.slot_floats(); }
  void fault_in() const { region_.fault_in(0, region_.size()); }

  // --- The states of one sequence ---
  // The longest length up to `length` whose state is here: in a plane or a checkpoint that the sequence holds
  // (sequence -1: none), or in the checkpoint of the node that ends there, path[i] being that of page i.
  int64_t longest(int32_t sequence, int64_t length, std::span<const NodeId> path,
                  const PrefixIndex& index) const;
  // Goes back (or, from an empty sequence, forward) to a length that longest() gave.
  void move_to(int32_t sequence, int64_t length, std::span<const NodeId> path, PrefixIndex& index);
  // Adds the rows of the next n_tokens positions to the step.
  void grow(int32_t sequence, int64_t n_tokens, PrefixIndex& index);
  // Forgets the last grow(), whose rows have not been computed.
  void take_back(int32_t sequence);
  // The new sequence starts from the state of the other.
  void fork(int32_t from, int32_t to);
  // A checkpoint is wanted at this position too: where the sequence's prompt ends.
  void wish(int32_t sequence, int64_t position) { held(sequence).wish = position; }
  // Whether the sequence will make its state at this position findable when it gets there.
  bool will_keep(int32_t sequence, int64_t position) const;
  // The step has been computed up to `position`, where `node` ends: makes its checkpoint findable if wanted.
  void index_state(int32_t sequence, int64_t position, NodeId node, PrefixIndex& index);
  // The step is over: lets go of checkpoints that the sequence needs no longer.
  void settle(int32_t sequence);
  // The sequence ends; its state at the last full page, that of node `tip`, stays findable.
  void close(int32_t sequence, NodeId tip, PrefixIndex& index);

  // --- Steps ---
  void begin_step();
  StateTables tables() const { return {.slots = slots_, .spans = spans_}; }

  // --- Upkeep ---
  void clear_cache(PrefixIndex& index);
  int64_t n_copied() const { return n_copied_; }
  int64_t n_evicted() const { return n_evicted_; }
  // Sequences of these lengths can go on; holders equal owners; checkpoints and index name each other.
  // Errors: kInternal.
  Status check(std::span<const int64_t> lengths, const PrefixIndex& index) const;

 private:
  // A checkpoint that a sequence holds.
  struct Kept {
    int64_t position = 0;
    int32_t slot = -1;  // of the pool
  };
  struct Held {
    int64_t length = 0;
    int64_t first_plane = 1;      // planes hold the states at positions from here to the length, but for kept
    std::vector<Kept> kept = {};  // ascending
    int64_t wish = 0;
  };
  static constexpr int32_t kZeros = -1, kNowhere = -2;

  explicit StateGroup(const StateGroupConfig& config);
  int32_t n_planes() const { return config_.max_draft + 1; }
  int32_t n_own() const { return config_.max_sequences * n_planes(); }
  int32_t plane(int32_t sequence, int64_t position) const {
    return sequence * n_planes() + static_cast<int32_t>(position % n_planes());
  }
  bool is_wanted(const Held& h, int64_t position) const {
    return position > 0 && (position % config_.checkpoint_every == 0 || position == h.wish);
  }
  const Held& held(int32_t sequence) const { return held_[static_cast<size_t>(sequence)]; }
  Held& held(int32_t sequence) { return held_[static_cast<size_t>(sequence)]; }
  NodeId& node_of(int32_t slot) { return nodes_[static_cast<size_t>(slot)]; }
  NodeId node_of(int32_t slot) const { return nodes_[static_cast<size_t>(slot)]; }
  // The slot with the state at `position`.
  int32_t locate(int32_t sequence, int64_t position) const;
  int32_t take(PrefixIndex& index);
  int32_t take_for_boundary(Held& h, int64_t last, PrefixIndex& index);
  void set_node(int32_t checkpoint, NodeId node, PrefixIndex& index);
  void keep(int32_t sequence, int64_t n_tokens, PrefixIndex& index);
  void evict_oldest(PrefixIndex& index);
  void release(int32_t checkpoint);
  std::byte* slot(int32_t i) const { return region_.data() + static_cast<size_t>(i) * slot_bytes(); }

  StateGroupConfig config_;
  PagePool pool_;  // of checkpoints: pool slot i is slot n_own() + i
  MemoryRegion region_;
  std::vector<int64_t> bases_;  // by layer, floats within a slot
  std::vector<Held> held_;      // [max_sequences]
  std::vector<Held> before_;    // [max_sequences] as it was before the last grow()
  std::vector<NodeId> nodes_;   // by pool slot: its node in the prefix index, or kNoNode
  std::vector<int32_t> slots_;  // of the step
  std::vector<StateSpan> spans_;
  int64_t n_copied_ = 0, n_evicted_ = 0;
};

}  // namespace quire

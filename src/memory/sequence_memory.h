// SequenceMemory: what all sequences remember, composed from what the layers of a model need.
//
// Layers with the same need form a group; each group keeps its keys and values in pages of 16 positions, in a
// pool and with block tables of its own. A sequence owns a page of the full group for every 16 positions, and
// in a windowed group only the pages its next query can still see. Full pages are found again by the tokens
// that led to them (PrefixIndex), shared by counting holders, and copied before they would be written
// (docs/memory.md). Layers that keep one state for a whole sequence form a group of their own (StateGroup):
// such a sequence can go on only from a length of which a state is left.
//
// Every buffer is sized at creation; sequences come, grow, shrink and go without allocating. A dry memory
// reports the same bytes and keeps the same books with no pages behind them. One thread at a time (the
// engine's); kernels write pages through the pointers handed out, on disjoint slots. Handing in a sequence
// that is not open is a programmer error.
//
//   QUIRE_ASSIGN_OR_RETURN(SequenceMemory memory, SequenceMemory::create({.needs = needs, ...}));
//   if (memory.match(scope, prompt).worth_waiting()) ...  // another sequence is computing this prefix
//   QUIRE_ASSIGN_OR_RETURN(SequenceId sequence, memory.open(scope));
//   const int64_t shared = memory.attach(sequence, prompt);     // positions that need no computing
//   memory.begin_step();
//   QUIRE_RETURN_IF_ERROR(memory.append(sequence, prompt.subspan(shared)));
//   ...run the step on memory.tables()...
//   memory.commit_step();                                       // now others may share what was computed
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "memory/group_plan.h"
#include "memory/memory_config.h"
#include "memory/page_counts.h"
#include "memory/page_group.h"
#include "memory/prefix_index.h"
#include "memory/prefix_scope.h"
#include "memory/sequence_id.h"
#include "memory/state_group.h"

namespace quire {

// Index tables of the step being built, valid until the next begin_step(), truncate(), fork() or close().
struct StepTables {
  std::span<const int32_t> positions;     // [n_tokens]
  std::span<const SequenceId> sequences;  // of the spans
  std::span<const GroupTables> groups;
  StateTables states;  // empty where no layer has a state
};

// What is known of a prompt before it is opened.
struct PrefixMatch {
  int64_t cached = 0;   // positions attach() would share now
  int64_t pending = 0;  // positions it could share once `producer` has computed them; 0 = nobody is at it
  SequenceId producer = {};
  // Full pages of those that sequences hold already: sharing them takes no page. Counted in groups without a
  // window only, where a sequence keeps what it shares.
  PageCounts held = {};
  bool worth_waiting() const { return pending > cached; }
};

// What preempting a sequence is about.
struct SequenceHolding {
  size_t bytes = 0;           // that spill() copies
  int64_t own_positions = 0;  // that no other sequence holds in every group
};

// Numbers since creation, and as they are now.
struct GroupGauges {
  int32_t window = 0;  // 0 = every position
  int32_t pages = 0, free = 0, held = 0, cached = 0;
  int32_t spilled = 0;  // pages of the spill area in use
  size_t page_bytes = 0;
};
struct StateGauges {
  int32_t checkpoints = 0, free = 0, held = 0, cached = 0;
  size_t slot_bytes = 0;
  int64_t copied = 0;     // states, by fork()
  int64_t evictions = 0;  // of checkpoints
};
struct MemoryGauges {
  int64_t lookups = 0;           // attach() calls
  int64_t hits = 0;              // of those, with something to share
  int64_t positions_shared = 0;  // by attach(): tokens that were not computed
  int64_t pages_restored = 0;    // by truncate(), that had left a window
  int64_t pages_copied = 0;      // before a write into a shared page
  int64_t pages_merged = 0;      // computed twice at the same time, then kept once
  int64_t evictions = 0;
  int64_t spills = 0, restores = 0;  // of sequences
  int32_t n_groups = 0;
  std::array<GroupGauges, kMaxPageGroups> groups = {};
  StateGauges states = {};
};

class SequenceMemory {
 public:
  // Errors: kResourceExhausted; kUnsupported (more than kMaxPageGroups different windows).
  static Result<SequenceMemory> create(const MemoryConfig& config);

  // --- What there is ---
  size_t page_bytes() const;  // of all groups together
  size_t spill_bytes() const;
  size_t table_bytes() const;  // block tables, step tables, token history, prefix index
  void fault_in() const;

  int32_t n_groups() const { return static_cast<int32_t>(groups_.size()); }
  const PageGroup& group(int32_t g) const { return groups_[static_cast<size_t>(g)]; }
  // The states of sequences; null where no layer has one.
  const StateGroup* states() const { return states_ ? &*states_ : nullptr; }
  float* layer_states(size_t layer) const;  // by index into the needs; null when dry
  // Where a layer's pages are, by index into the needs.
  int32_t layer_group(size_t layer) const { return layers_[layer].group; }
  std::byte* layer_pages(size_t layer) const;  // null when dry
  size_t layer_page_stride(size_t layer) const;

  // --- Sequences ---
  // An empty sequence. Errors: kResourceExhausted when max_sequences are open.
  Result<SequenceId> open(const PrefixScope& scope = {});
  // A new sequence with the same positions; pages are shared until one of the two writes. No step may be
  // under way for `source`. Errors: kResourceExhausted when max_sequences are open.
  Result<SequenceId> fork(SequenceId source);
  // Gives all pages back and withdraws what attach() announced.
  void close(SequenceId sequence);

  int64_t length(SequenceId sequence) const { return state(sequence).length; }
  std::span<const int32_t> tokens(SequenceId sequence) const;  // [length]

  // --- Shared prefixes ---
  // What attach() would find. At least the prompt's last token is left to compute, for its logits.
  PrefixMatch match(const PrefixScope& scope, std::span<const int32_t> prompt) const;
  // Gives an empty sequence the longest known prefix of `prompt` and returns its length; announces that this
  // sequence is going to compute the rest, so that others may wait for it instead of computing it again. What
  // was announced and not computed is withdrawn by truncate() and close().
  int64_t attach(SequenceId sequence, std::span<const int32_t> prompt);
  // Takes the announcement back: of a sequence that is not going to run for a while.
  void withdraw(SequenceId sequence);

  // --- Steps ---
  void begin_step();
  // Makes room for the tokens and adds their rows to the step: all or nothing. A step holds up to
  // max_sequences spans, each sequence once. Errors: kContextLength (over max_positions), kResourceExhausted
  // (no page left, step full); nothing has changed then.
  Status append(SequenceId sequence, std::span<const int32_t> tokens);
  // Forgets the tokens that append() added to the step, which has not been run.
  void take_back(SequenceId sequence);
  StepTables tables();
  // The rows of the step have been computed and are kept (rows that are not, such as refused drafts, are
  // truncated first): full pages may be shared from now on, pages that left their window are given back.
  void commit_step();

  // Forgets positions from n_keep on; pages behind the last kept position go back at once. Returns the length
  // reached: n_keep, unless a window needs pages that are gone or no state of that length is left, then the
  // longest length below that all groups can continue from, and the caller computes what is missing again.
  int64_t truncate(SequenceId sequence, int64_t n_keep);

  // --- Preemption ---
  // Copies the sequence's pages to the spill area, gives them back and withdraws what it announced; its state
  // stays where it is, since nobody else may use that place. Until it is restored the sequence can only be
  // closed or asked for its length and tokens. Errors: kResourceExhausted when the area is full; nothing has
  // changed then.
  Status spill(SequenceId sequence);
  bool can_spill(SequenceId sequence) const;
  SequenceHolding holding(SequenceId sequence) const;
  // Brings a spilled sequence back, with the same bits. Errors: kResourceExhausted when too few pages are
  // available; nothing has changed then.
  Status restore(SequenceId sequence);
  bool can_restore(SequenceId sequence) const;
  bool spilled(SequenceId sequence) const { return state(sequence).spilled; }

  // --- Room ---
  // Pages that an append could take now: free or cached.
  PageCounts available() const;
  // Pages that appending n_tokens to the sequence would take.
  PageCounts needed(SequenceId sequence, int64_t n_tokens) const;
  // Pages that a sequence of n_tokens holds at most while it is computed in steps of max_step_tokens.
  PageCounts needed_for(int64_t n_tokens) const;

  MemoryGauges gauges() const;
  // Drops every cached page. Held pages stay.
  void clear_cache();
  // Pages are taken in this order from now on, until no page is held (PagePool::order_free): for proofs that
  // placement changes no result.
  void order_free_pages(std::span<const int32_t> order);
  // Everything that must hold between calls: free + cached + held = pool, holders equal owners, no page twice
  // in a table, every hash follows from its parent's. Errors: kInternal naming what broke.
  Status check() const;

 private:
  struct Sequence {
    bool open = false;
    bool spilled = false;
    int64_t length = 0;
    int64_t step = -1;           // in which rows were added that are not committed
    int64_t step_begin = 0;      // length before that step
    NodeId tip = kNoNode;        // of the last full page that was committed, or the scope's root; held
    NodeId announced = kNoNode;  // of the last page this sequence is going to compute; held
  };
  // What of a prompt the index knows; path_[0, n_path) are the nodes.
  struct Walk {
    int32_t n_full = 0, n_path = 0;  // the last node may be partly equal
    int64_t length = 0;
  };

  SequenceMemory(const MemoryConfig& config, const PrefixIndexConfig& index);
  static int32_t full_pages(int64_t positions) { return static_cast<int32_t>(positions / kPagePositions); }
  static PageTokens page_tokens(std::span<const int32_t> tokens, int32_t i) {
    return PageTokens(tokens.data() + static_cast<size_t>(i) * kPagePositions, size_t{kPagePositions});
  }
  Sequence& state(SequenceId sequence);
  const Sequence& state(SequenceId sequence) const;
  bool in_step(const Sequence& s) const { return s.step == step_; }
  int32_t* history(SequenceId sequence) {
    return tokens_.data() + static_cast<size_t>(sequence.index) * static_cast<size_t>(max_positions_);
  }
  Sequence& present(SequenceId sequence);  // and not spilled
  Result<SequenceId> take_slot();
  std::span<const NodeId> path_to(NodeId tip) const;
  void move_tip(Sequence& s, NodeId node);
  int64_t longest(int64_t length, SequenceId sequence, int32_t n_path) const;
  void sort_idle();

  Walk walk(NodeId root, std::span<const int32_t> prompt) const;
  bool complete(NodeId node) const;  // every group has its page
  bool has_state(NodeId node) const;
  void announce(SequenceId sequence, std::span<const int32_t> prompt);
  void index_full_pages(SequenceId sequence);

  int64_t max_positions_ = 0;
  std::vector<LayerPlace> layers_;
  std::vector<PageGroup> groups_;
  std::optional<StateGroup> states_;
  PrefixIndex index_;
  std::vector<Sequence> sequences_;
  std::vector<int32_t> tokens_;     // [max_sequences, max_positions]
  std::vector<int32_t> positions_;  // of the step, as what follows
  std::vector<SequenceId> step_sequences_;
  std::vector<GroupTables> step_tables_;
  int64_t step_ = 0;
  mutable std::vector<NodeId> path_;  // scratch: node of page i
  MemoryGauges gauges_;               // those that only this class counts
};

}  // namespace quire

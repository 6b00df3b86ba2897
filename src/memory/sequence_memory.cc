#include "memory/sequence_memory.h"

#include <algorithm>

#include "base/check.h"
#include "memory/group_plan.h"

namespace quire {
namespace {

// In debug builds: a check takes longer than a step's bookkeeping, and allocates.
#ifdef __OPTIMIZE__
constexpr bool kCheckEveryStep = false;
#else
constexpr bool kCheckEveryStep = true;
#endif

}  // namespace

SequenceMemory::SequenceMemory(const MemoryConfig& config, const PrefixIndexConfig& index)
    : max_positions_(config.max_positions), index_(index) {
  const auto n_sequences = static_cast<size_t>(config.max_sequences);
  sequences_.resize(n_sequences);
  tokens_.resize(n_sequences * static_cast<size_t>(config.max_positions));
  positions_.reserve(static_cast<size_t>(config.max_step_tokens));
  step_sequences_.reserve(n_sequences);
  path_.resize(static_cast<size_t>(pages_for(config.max_positions)) + 1);
}

Result<SequenceMemory> SequenceMemory::create(const MemoryConfig& config) {
  QUIRE_CHECK(config.n_pages > 0 && config.max_sequences > 0 && config.max_positions > 0 &&
              config.max_step_tokens > 0);
  QUIRE_ASSIGN_OR_RETURN(const GroupPlan plan, plan_groups(config));
  SequenceMemory memory(
      config, {.max_nodes = plan.max_nodes, .fingerprint = config.fingerprint, .hash = config.prefix_hash});
  memory.layers_ = plan.layers;
  memory.groups_.reserve(plan.groups.size());
  for (const PageGroupConfig& group : plan.groups) {
    QUIRE_ASSIGN_OR_RETURN(PageGroup created, PageGroup::create(group));
    memory.groups_.push_back(std::move(created));
  }
  if (plan.states) {
    QUIRE_ASSIGN_OR_RETURN(memory.states_, StateGroup::create(*plan.states));
  }
  memory.step_tables_.resize(memory.groups_.size());
  return memory;
}

size_t SequenceMemory::page_bytes() const {
  size_t bytes = 0;
  for (const PageGroup& group : groups_) bytes += group.bytes();
  return bytes;
}

size_t SequenceMemory::spill_bytes() const {
  size_t bytes = 0;
  for (const PageGroup& group : groups_) bytes += group.spill_bytes();
  return bytes;
}

size_t SequenceMemory::table_bytes() const {
  size_t bytes = index_.bytes() + sequences_.capacity() * sizeof(Sequence) +
                 step_sequences_.capacity() * sizeof(SequenceId) +
                 step_tables_.capacity() * sizeof(GroupTables) +
                 (tokens_.capacity() + positions_.capacity() + path_.capacity()) * sizeof(int32_t);
  for (const PageGroup& group : groups_) bytes += group.table_bytes();
  return bytes + (states_ ? states_->table_bytes() : 0);
}

void SequenceMemory::fault_in() const {
  for (const PageGroup& group : groups_) group.fault_in();
  if (states_) states_->fault_in();
}

float* SequenceMemory::layer_states(size_t layer) const {
  QUIRE_CHECK(layers_[layer].group == kStateGroup);
  return states_->layer_states(layers_[layer].index);
}

std::byte* SequenceMemory::layer_pages(size_t layer) const {
  return group(layers_[layer].group).layer_pages(layers_[layer].index);
}

size_t SequenceMemory::layer_page_stride(size_t layer) const {
  return group(layers_[layer].group).layer_page_stride(layers_[layer].index);
}

// --- Sequences ---

SequenceMemory::Sequence& SequenceMemory::state(SequenceId sequence) {
  QUIRE_CHECK(sequence.index >= 0 && static_cast<size_t>(sequence.index) < sequences_.size());
  Sequence& s = sequences_[static_cast<size_t>(sequence.index)];
  QUIRE_CHECK(s.open);
  return s;
}

const SequenceMemory::Sequence& SequenceMemory::state(SequenceId sequence) const {
  return const_cast<SequenceMemory*>(this)->state(sequence);
}

SequenceMemory::Sequence& SequenceMemory::present(SequenceId sequence) {
  Sequence& s = state(sequence);
  QUIRE_CHECK(!s.spilled);
  return s;
}

std::span<const int32_t> SequenceMemory::tokens(SequenceId sequence) const {
  const size_t begin = static_cast<size_t>(sequence.index) * static_cast<size_t>(max_positions_);
  return std::span(tokens_).subspan(begin, static_cast<size_t>(state(sequence).length));
}

Result<SequenceId> SequenceMemory::take_slot() {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    if (sequences_[i].open) continue;
    sequences_[i] = {.open = true};
    return SequenceId{static_cast<int32_t>(i)};
  }
  return make_error(ErrorCode::kResourceExhausted, "all {} sequences are in use", sequences_.size());
}

Result<SequenceId> SequenceMemory::open(const PrefixScope& scope) {
  QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, take_slot());
  move_tip(state(sequence), index_.add_root(scope));
  return sequence;
}

Result<SequenceId> SequenceMemory::fork(SequenceId source) {
  const Sequence& from = present(source);
  QUIRE_CHECK(!in_step(from));
  QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, take_slot());
  Sequence& s = state(sequence);
  s.length = from.length;
  move_tip(s, from.tip);
  for (PageGroup& group : groups_) group.fork(source.index, sequence.index);
  if (states_) states_->fork(source.index, sequence.index);
  std::ranges::copy(tokens(source), history(sequence));
  return sequence;
}

void SequenceMemory::close(SequenceId sequence) {
  Sequence& s = state(sequence);
  withdraw(sequence);
  if (states_) states_->close(sequence.index, s.tip, index_);
  for (PageGroup& group : groups_) {
    if (s.spilled) {
      group.drop_spilled(sequence.index);
    } else {
      group.hold(sequence.index, 0, 0, {}, index_);
    }
  }
  move_tip(s, kNoNode);
  s = {};
  sort_idle();
}

// Idle: what comes next gets neighbouring pages again, as after a fresh start.
void SequenceMemory::sort_idle() {
  for (PageGroup& group : groups_) group.sort_if_idle();
}

void SequenceMemory::move_tip(Sequence& s, NodeId node) {
  if (node != kNoNode) index_.retain(node);
  if (s.tip != kNoNode) index_.release(s.tip);
  s.tip = node;
}

// --- Steps ---

void SequenceMemory::begin_step() {
  ++step_;
  positions_.clear();
  step_sequences_.clear();
  for (PageGroup& group : groups_) group.begin_step();
  if (states_) states_->begin_step();
}

Status SequenceMemory::append(SequenceId sequence, std::span<const int32_t> tokens) {
  Sequence& s = present(sequence);
  QUIRE_CHECK(!tokens.empty() && !in_step(s));
  const auto n_tokens = static_cast<int64_t>(tokens.size());
  if (s.length + n_tokens > max_positions_) {
    return make_error(ErrorCode::kContextLength, "{} tokens do not fit the context of {}",
                      s.length + n_tokens, max_positions_);
  }
  if (tokens.size() > positions_.capacity() - positions_.size() ||
      step_sequences_.size() == sequences_.size()) {
    return make_error(ErrorCode::kResourceExhausted,
                      "the step has {} of {} tokens of {} sequences, {} more tokens do not fit",
                      positions_.size(), positions_.capacity(), step_sequences_.size(), n_tokens);
  }
  for (const PageGroup& group : groups_) {
    const int32_t needed = group.needed(sequence.index, s.length, n_tokens);
    if (needed > group.available()) {
      return make_error(ErrorCode::kResourceExhausted, "{} pages are needed and {} of {} are free", needed,
                        group.available(), group.pool().n_pages());
    }
  }
  std::ranges::copy(tokens, history(sequence) + s.length);
  for (PageGroup& group : groups_) group.grow(sequence.index, s.length, n_tokens, index_);
  if (states_) states_->grow(sequence.index, n_tokens, index_);
  s.step_begin = s.length;
  for (int64_t i = 0; i < n_tokens; ++i) positions_.push_back(static_cast<int32_t>(s.length + i));
  s.length += n_tokens;
  s.step = step_;
  for (PageGroup& group : groups_) group.add_rows(sequence.index, s.length, n_tokens);
  step_sequences_.push_back(sequence);
  return {};
}

void SequenceMemory::take_back(SequenceId sequence) {
  Sequence& s = present(sequence);
  QUIRE_CHECK(in_step(s));
  if (states_) states_->take_back(sequence.index);
  truncate(sequence, s.step_begin);
  s.step = -1;
}

StepTables SequenceMemory::tables() {
  for (size_t g = 0; g < groups_.size(); ++g) step_tables_[g] = groups_[g].tables();
  return {.positions = positions_,
          .sequences = step_sequences_,
          .groups = step_tables_,
          .states = states_ ? states_->tables() : StateTables{}};
}

void SequenceMemory::commit_step() {
  for (const SequenceId sequence : step_sequences_) {
    Sequence& s = sequences_[static_cast<size_t>(sequence.index)];
    if (!s.open || !in_step(s)) continue;  // closed since
    index_full_pages(sequence);
    for (PageGroup& group : groups_) {
      group.release_before(sequence.index, group.first_needed(s.length), s.tip, index_);
    }
    if (states_) states_->settle(sequence.index);
    s.step = -1;
  }
  step_sequences_.clear();
  if constexpr (kCheckEveryStep) QUIRE_CHECK(check().ok());
}

// The nodes of all full pages up to the tip, in path_.
std::span<const NodeId> SequenceMemory::path_to(NodeId tip) const {
  if (tip == kNoNode) return {};
  const auto n = static_cast<size_t>(index_.depth(tip));
  for (size_t i = n; i > 0; tip = index_.parent(tip)) path_[--i] = tip;
  return std::span(path_).first(n);
}

int64_t SequenceMemory::truncate(SequenceId sequence, int64_t n_keep) {
  Sequence& s = present(sequence);
  QUIRE_CHECK(n_keep >= 0 && n_keep <= s.length);
  const std::span<const NodeId> path = path_to(s.tip);
  const auto n_path = static_cast<int32_t>(path.size());
  const int64_t kept = longest(n_keep, sequence, n_path);
  const auto end = static_cast<int32_t>(pages_for(kept));
  for (PageGroup& group : groups_) {
    gauges_.pages_restored += group.hold(sequence.index, group.first_needed(kept), end, path_, index_);
  }
  if (states_) states_->move_to(sequence.index, kept, path, index_);
  s.length = kept;
  if (n_path > full_pages(kept)) {
    withdraw(sequence);
    NodeId tip = s.tip;
    while (index_.depth(tip) > full_pages(kept)) tip = index_.parent(tip);
    move_tip(s, tip);
  }
  sort_idle();
  return kept;
}

// The longest length, at most `length`, that every group can continue from: its pages are in the sequence's
// table or those of path_[0, n_path), and a state is left.
int64_t SequenceMemory::longest(int64_t length, SequenceId sequence, int32_t n_path) const {
  const auto is_there = [&](const PageGroup& group, int32_t i) {
    if (sequence.index >= 0 && i >= group.first_page(sequence.index) && i < group.end_page(sequence.index))
      return true;
    return i < n_path && index_.page(path_[static_cast<size_t>(i)], group.number()) >= 0;
  };
  const auto path = std::span(path_).first(static_cast<size_t>(n_path));
  for (size_t g = 0; g <= groups_.size();) {
    if (g == groups_.size()) {
      const int64_t before = length;
      if (states_) length = states_->longest(sequence.index, length, path, index_);
      if (length == before) break;
      g = 0;
      continue;
    }
    const PageGroup& group = groups_[g];
    auto missing = static_cast<int32_t>(pages_for(length)) - 1;
    while (missing >= group.first_needed(length) && is_there(group, missing)) --missing;
    if (missing < group.first_needed(length)) {
      ++g;
      continue;
    }
    length = int64_t{missing} * kPagePositions;
    g = 0;  // the groups before must be able to continue from there too
  }
  return length;
}

// --- Preemption ---

Status SequenceMemory::spill(SequenceId sequence) {
  Sequence& s = present(sequence);
  QUIRE_CHECK(!in_step(s));
  if (!can_spill(sequence)) {
    return make_error(ErrorCode::kResourceExhausted, "the spill area has no room for {} positions", s.length);
  }
  withdraw(sequence);
  for (PageGroup& group : groups_) group.spill(sequence.index, index_);
  s.spilled = true;
  ++gauges_.spills;
  sort_idle();
  return {};
}

bool SequenceMemory::can_spill(SequenceId sequence) const {
  return std::ranges::all_of(groups_, [&](const PageGroup& g) { return g.can_spill(sequence.index); });
}

bool SequenceMemory::can_restore(SequenceId sequence) const {
  const std::span<const NodeId> path = path_to(state(sequence).tip);
  return std::ranges::all_of(groups_, [&](const PageGroup& g) {
    return g.needed_to_restore(sequence.index, path, index_) <= g.available();
  });
}

SequenceHolding SequenceMemory::holding(SequenceId sequence) const {
  SequenceHolding holding;
  int32_t own = 0;  // pages
  for (const PageGroup& group : groups_) {
    const int32_t first = group.first_page(sequence.index), end = group.end_page(sequence.index);
    holding.bytes += static_cast<size_t>(end - first) * group.page_bytes();
    int32_t of_group = 0;
    for (int32_t i = first; i < end; ++i)
      of_group += group.pool().holders(group.page(sequence.index, i)) == 1 ? 1 : 0;
    own = std::max(own, of_group);
  }
  holding.own_positions = std::min(int64_t{own} * kPagePositions, length(sequence));
  return holding;
}

Status SequenceMemory::restore(SequenceId sequence) {
  Sequence& s = state(sequence);
  QUIRE_CHECK(s.spilled);
  const std::span<const NodeId> path = path_to(s.tip);
  for (const PageGroup& group : groups_) {
    const int32_t needed = group.needed_to_restore(sequence.index, path, index_);
    if (needed > group.available()) {
      return make_error(ErrorCode::kResourceExhausted, "{} pages are needed and {} of {} are free", needed,
                        group.available(), group.pool().n_pages());
    }
  }
  for (PageGroup& group : groups_) group.restore(sequence.index, path, index_);
  s.spilled = false;
  ++gauges_.restores;
  return {};
}

// --- Room ---

PageCounts SequenceMemory::available() const {
  PageCounts counts;
  for (size_t g = 0; g < groups_.size(); ++g) counts.groups[g] = groups_[g].available();
  return counts;
}

PageCounts SequenceMemory::needed(SequenceId sequence, int64_t n_tokens) const {
  const int64_t length = state(sequence).length;
  PageCounts counts;
  for (size_t g = 0; g < groups_.size(); ++g)
    counts.groups[g] = groups_[g].needed(sequence.index, length, n_tokens);
  return counts;
}

PageCounts SequenceMemory::needed_for(int64_t n_tokens) const {
  PageCounts counts;
  for (size_t g = 0; g < groups_.size(); ++g) counts.groups[g] = groups_[g].needed_for(n_tokens);
  return counts;
}

// --- Upkeep ---

MemoryGauges SequenceMemory::gauges() const {
  MemoryGauges gauges = gauges_;
  gauges.n_groups = n_groups();
  for (size_t g = 0; g < groups_.size(); ++g) {
    const PageGroup& group = groups_[g];
    gauges.pages_copied += group.n_copied();
    gauges.evictions += group.n_evicted();
    gauges.groups[g] = {.window = group.window(),
                        .pages = group.pool().n_pages(),
                        .free = group.pool().n_free(),
                        .held = group.pool().n_held(),
                        .cached = group.pool().n_cached(),
                        .spilled = group.n_spilled(),
                        .page_bytes = group.page_bytes()};
  }
  if (states_) {
    const PagePool& checkpoints = states_->checkpoints();
    gauges.states = {.checkpoints = checkpoints.n_pages(),
                     .free = checkpoints.n_free(),
                     .held = checkpoints.n_held(),
                     .cached = checkpoints.n_cached(),
                     .slot_bytes = states_->slot_bytes(),
                     .copied = states_->n_copied(),
                     .evictions = states_->n_evicted()};
  }
  return gauges;
}

void SequenceMemory::clear_cache() {
  for (PageGroup& group : groups_) group.clear_cache(index_);
  if (states_) states_->clear_cache(index_);
  sort_idle();
}

void SequenceMemory::order_free_pages(std::span<const int32_t> order) {
  for (PageGroup& group : groups_) group.order_free(order);
}

Status SequenceMemory::check() const {
  for (const PageGroup& group : groups_) QUIRE_RETURN_IF_ERROR(group.check(index_));
  std::vector<int32_t> holders(static_cast<size_t>(index_.max_nodes()), 0);
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& s = sequences_[i];
    for (const NodeId node : {s.tip, s.announced}) {
      if (node != kNoNode) ++holders[static_cast<size_t>(node)];
    }
    const auto n_pages = static_cast<int32_t>(pages_for(s.length));
    for (const PageGroup& group : groups_) {
      if (group.end_page(static_cast<int32_t>(i)) != n_pages ||
          group.first_page(static_cast<int32_t>(i)) > group.first_needed(s.length)) {
        return make_error(ErrorCode::kInternal, "sequence {} of {} positions holds pages [{}, {})", i,
                          s.length, group.first_page(static_cast<int32_t>(i)),
                          group.end_page(static_cast<int32_t>(i)));
      }
    }
    if (s.tip != kNoNode && index_.depth(s.tip) > full_pages(s.length))
      return make_error(ErrorCode::kInternal, "sequence {} is behind its own tip", i);
  }
  if (states_) {
    std::vector<int64_t> lengths;
    for (const Sequence& s : sequences_) lengths.push_back(s.length);
    QUIRE_RETURN_IF_ERROR(states_->check(lengths, index_));
  }
  return index_.check(holders);
}

}  // namespace quire

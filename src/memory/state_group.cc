#include "memory/state_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"

namespace quire {

int64_t StateGroupConfig::slot_floats() const {
  return std::accumulate(layer_floats.begin(), layer_floats.end(), int64_t{0});
}

StateGroup::StateGroup(const StateGroupConfig& config) : config_(config), pool_(config.n_checkpoints) {
  const auto n_sequences = static_cast<size_t>(config.max_sequences);
  // Checkpoints of one step, those among the drafts, the one it came from and the one at the last page.
  const int64_t most = config.max_step_tokens / config.checkpoint_every + pages_for(config.max_draft) + 4;
  held_.resize(n_sequences);
  before_.resize(n_sequences);
  for (std::vector<Held>* all : {&held_, &before_}) {
    for (Held& h : *all) h.kept.reserve(static_cast<size_t>(most));
  }
  nodes_.resize(static_cast<size_t>(config.n_checkpoints), kNoNode);
  slots_.reserve(static_cast<size_t>(config.max_step_tokens));
  spans_.reserve(n_sequences);
  int64_t base = 0;
  for (const int64_t floats : config.layer_floats) {
    bases_.push_back(base);
    base += floats;
  }
}

Result<StateGroup> StateGroup::create(const StateGroupConfig& config) {
  QUIRE_CHECK(config.max_sequences > 0 && config.max_draft >= 0 && config.n_checkpoints >= 0);
  QUIRE_CHECK(config.checkpoint_every > 0 && config.checkpoint_every % kPagePositions == 0);
  StateGroup group(config);
  QUIRE_ASSIGN_OR_RETURN(
      group.region_,
      MemoryRegion::allocate(group.sequence_bytes() + group.checkpoint_bytes(), config.allocation));
  return group;
}

size_t StateGroup::table_bytes() const {
  size_t bytes = nodes_.capacity() * sizeof(NodeId) + slots_.capacity() * sizeof(int32_t) +
                 spans_.capacity() * sizeof(StateSpan) + pool_.bytes();
  for (const std::vector<Held>* all : {&held_, &before_}) {
    bytes += all->capacity() * sizeof(Held);
    for (const Held& h : *all) bytes += h.kept.capacity() * sizeof(Kept);
  }
  return bytes;
}

float* StateGroup::layer_states(size_t layer) const {
  return region_.data() == nullptr ? nullptr : reinterpret_cast<float*>(region_.data()) + bases_[layer];
}

int32_t StateGroup::locate(int32_t sequence, int64_t position) const {
  if (position == 0) return kZeros;
  const Held& h = held(sequence);
  for (const Kept& kept : h.kept) {
    if (kept.position == position) return n_own() + kept.slot;
  }
  return position >= h.first_plane && position <= h.length ? plane(sequence, position) : kNowhere;
}

int64_t StateGroup::longest(int32_t sequence, int64_t length, std::span<const NodeId> path,
                            const PrefixIndex& index) const {
  const auto is_in_index = [&](int64_t position) {
    const auto page = static_cast<size_t>(position / kPagePositions);
    return position % kPagePositions == 0 && page <= path.size() &&
           index.page(path[page - 1], config_.number) >= 0;
  };
  while (length > 0 && !is_in_index(length) && (sequence < 0 || locate(sequence, length) == kNowhere))
    --length;
  return length;
}

// --- Moving ---

void StateGroup::move_to(int32_t sequence, int64_t length, std::span<const NodeId> path, PrefixIndex& index) {
  Held& h = held(sequence);
  const bool is_here = locate(sequence, length) != kNowhere;
  while (!h.kept.empty() && h.kept.back().position > length) {
    release(h.kept.back().slot);
    h.kept.pop_back();
  }
  if (!is_here) {
    const int32_t checkpoint =
        index.page(path[static_cast<size_t>(length / kPagePositions) - 1], config_.number);
    QUIRE_CHECK(checkpoint >= 0);
    pool_.retain(checkpoint);
    h.kept.push_back({.position = length, .slot = checkpoint});
  }
  h.length = length;
  h.first_plane = is_here ? std::min(h.first_plane, length + 1) : length + 1;
}

void StateGroup::fork(int32_t from, int32_t to) {
  Held& h = held(to);
  const int64_t length = h.length = held(from).length;
  h.first_plane = length + 1;
  const int32_t source = locate(from, length);
  if (source == kZeros) return;
  if (source >= n_own()) {
    pool_.retain(source - n_own());
    h.kept.push_back({.position = length, .slot = source - n_own()});
    return;
  }
  h.first_plane = length;
  ++n_copied_;
  if (region_.data() != nullptr) std::memcpy(slot(plane(to, length)), slot(source), slot_bytes());
}

// --- Steps ---

void StateGroup::begin_step() {
  slots_.clear();
  spans_.clear();
}

void StateGroup::grow(int32_t sequence, int64_t n_tokens, PrefixIndex& index) {
  Held& h = held(sequence);
  before_[static_cast<size_t>(sequence)] = h;
  const int64_t length = h.length, end = length + n_tokens;
  const int32_t source = locate(sequence, length);
  QUIRE_CHECK(source != kNowhere);
  // The rows before that one share its plane as a working place.
  const int64_t first_plane = std::max(length + 1, end - config_.max_draft);
  const auto row_begin = static_cast<int32_t>(slots_.size());
  for (int64_t position = length + 1; position <= end; ++position)
    slots_.push_back(plane(sequence, std::max(position, first_plane)));
  spans_.push_back(
      {.row_begin = row_begin, .row_end = static_cast<int32_t>(slots_.size()), .source = source});
  h.first_plane = std::max(h.first_plane, end - config_.max_draft);
  h.length = end;
  keep(sequence, n_tokens, index);
}

// Sends the states at wanted positions, and at the end of the last full page, to checkpoints, where the next
// row reads them.
void StateGroup::keep(int32_t sequence, int64_t n_tokens, PrefixIndex& index) {
  Held& h = held(sequence);
  const int64_t end = h.length, length = end - n_tokens;
  const int64_t boundary = end / kPagePositions * kPagePositions;
  const auto first_row = static_cast<int64_t>(slots_.size()) - n_tokens;
  const auto keep_at = [&](int64_t position, int32_t checkpoint) {
    if (checkpoint < 0) return;  // all are held: the sequence goes on without
    slots_[static_cast<size_t>(first_row + position - length - 1)] = n_own() + checkpoint;
    h.kept.push_back({.position = position, .slot = checkpoint});
  };
  for (int64_t position = length / kPagePositions * kPagePositions + kPagePositions; position <= boundary;
       position += kPagePositions) {
    if (is_wanted(h, position)) {
      keep_at(position, take(index));
    } else if (position == boundary) {
      keep_at(position, take_for_boundary(h, std::min(length, end - config_.max_draft - 1), index));
    }
  }
}

// The checkpoint at the last page moves with the sequence, where it is not needed any more: it must be at
// `last` or before, unknown to others.
int32_t StateGroup::take_for_boundary(Held& h, int64_t last, PrefixIndex& index) {
  const auto old = std::ranges::find_if(h.kept, [&](const Kept& kept) {
    return kept.position <= last && node_of(kept.slot) == kNoNode && pool_.holders(kept.slot) == 1;
  });
  if (old == h.kept.end()) return take(index);
  const int32_t checkpoint = old->slot;
  h.kept.erase(old);
  return checkpoint;
}

void StateGroup::take_back(int32_t sequence) {
  Held& h = held(sequence);
  const Held& before = before_[static_cast<size_t>(sequence)];
  for (const Kept& kept : h.kept) {
    if (std::ranges::find(before.kept, kept.slot, &Kept::slot) == before.kept.end()) release(kept.slot);
  }
  h = before;
}

bool StateGroup::will_keep(int32_t sequence, int64_t position) const {
  return config_.n_checkpoints > 0 && is_wanted(held(sequence), position);
}

void StateGroup::index_state(int32_t sequence, int64_t position, NodeId node, PrefixIndex& index) {
  const Held& h = held(sequence);
  if (!is_wanted(h, position)) return;
  const auto kept = std::ranges::find(h.kept, position, &Kept::position);
  if (kept != h.kept.end()) set_node(kept->slot, node, index);
}

// Of two sequences that computed the same state one makes it findable; the other lets go of its own.
void StateGroup::set_node(int32_t checkpoint, NodeId node, PrefixIndex& index) {
  if (node_of(checkpoint) != kNoNode || index.page(node, config_.number) >= 0) return;
  index.set_page(node, config_.number, checkpoint);
  node_of(checkpoint) = node;
}

void StateGroup::settle(int32_t sequence) {
  Held& h = held(sequence);
  // Needed: the state it goes on from, those among the newest rows, and one at the last page that only this
  // sequence knows.
  const int64_t last_page = h.kept.empty() ? 0 : h.kept.back().position;
  std::erase_if(h.kept, [&](const Kept& kept) {
    if (kept.position >= h.length - config_.max_draft) return false;
    if (kept.position == last_page && node_of(kept.slot) == kNoNode) return false;
    release(kept.slot);
    return true;
  });
}

void StateGroup::close(int32_t sequence, NodeId tip, PrefixIndex& index) {
  Held& h = held(sequence);
  for (const Kept& kept : h.kept) {
    if (tip != kNoNode && kept.position == int64_t{index.depth(tip)} * kPagePositions)
      set_node(kept.slot, tip, index);
    release(kept.slot);
  }
  h.kept.clear();
  h.length = h.wish = 0;
  h.first_plane = 1;
}

// --- The pool of checkpoints ---

// -1 when every checkpoint is held.
int32_t StateGroup::take(PrefixIndex& index) {
  if (pool_.n_free() == 0 && pool_.n_cached() > 0) evict_oldest(index);
  return pool_.take();
}

void StateGroup::evict_oldest(PrefixIndex& index) {
  const int32_t checkpoint = pool_.oldest_cached();
  index.clear_page(node_of(checkpoint), config_.number);
  node_of(checkpoint) = kNoNode;
  pool_.evict(checkpoint);
  ++n_evicted_;
}

void StateGroup::release(int32_t checkpoint) {
  pool_.release(checkpoint, node_of(checkpoint) == kNoNode ? PagePool::Then::kFree : PagePool::Then::kCache);
}

void StateGroup::clear_cache(PrefixIndex& index) {
  while (pool_.n_cached() > 0) evict_oldest(index);
}

Status StateGroup::check(std::span<const int64_t> lengths, const PrefixIndex& index) const {
  QUIRE_RETURN_IF_ERROR(pool_.check());
  std::vector<int32_t> owners(nodes_.size(), 0);
  for (size_t s = 0; s < held_.size(); ++s) {
    const auto broken = [&](const char* what) {
      return make_error(ErrorCode::kInternal, "the states of sequence {} of {} positions {}", s, lengths[s],
                        what);
    };
    int64_t last = 0;
    for (const Kept& kept : held_[s].kept) {
      if (kept.position <= last || kept.position > lengths[s]) return broken("are kept out of order");
      last = kept.position;
      ++owners[static_cast<size_t>(kept.slot)];
    }
    if (held_[s].length != lengths[s]) return broken("are of another length");
    if (locate(static_cast<int32_t>(s), lengths[s]) == kNowhere) return broken("are lost");
    if (held_[s].first_plane < lengths[s] - config_.max_draft) return broken("lie in a plane twice");
  }
  for (int32_t c = 0; c < pool_.n_pages(); ++c) {
    const auto broken = [&](const char* what) {
      return make_error(ErrorCode::kInternal, "checkpoint {} {}", c, what);
    };
    const int32_t n = owners[static_cast<size_t>(c)];
    if (pool_.holders(c) != n || (pool_.is_free(c) || pool_.is_cached(c)) != (n == 0))
      return broken("has other holders than owners");
    if (pool_.is_cached(c) && node_of(c) == kNoNode) return broken("is cached and cannot be found");
    if (pool_.is_free(c) && node_of(c) != kNoNode) return broken("is free and in the prefix index");
    if (node_of(c) != kNoNode && index.page(node_of(c), config_.number) != c)
      return broken("is not its node's");
  }
  return {};
}

}  // namespace quire

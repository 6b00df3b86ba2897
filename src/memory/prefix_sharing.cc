// The part of SequenceMemory that finds, shares and announces prefixes.
#include <algorithm>

#include "base/check.h"
#include "memory/sequence_memory.h"

namespace quire {

// Follows the prompt into the index: path_ is the nodes of its pages, of which the last may be partly equal.
// Returns how many positions they cover, leaving the last token out.
SequenceMemory::Walk SequenceMemory::walk(NodeId root, std::span<const int32_t> prompt) const {
  Walk walk;
  if (root == kNoNode || prompt.empty()) return walk;
  NodeId last = root;
  while (walk.n_full < full_pages(static_cast<int64_t>(prompt.size()))) {
    const NodeId next = index_.find(last, page_tokens(prompt, walk.n_full));
    if (next == kNoNode) break;
    path_[static_cast<size_t>(walk.n_full++)] = last = next;
  }
  const size_t known = static_cast<size_t>(walk.n_full) * kPagePositions;
  const PrefixIndex::Partial partial = index_.closest(last, prompt.subspan(known));
  if (partial.node != kNoNode) path_[static_cast<size_t>(walk.n_full)] = partial.node;
  walk.n_path = walk.n_full + (partial.node != kNoNode ? 1 : 0);
  walk.length =
      std::min(static_cast<int64_t>(known) + partial.n_equal, static_cast<int64_t>(prompt.size()) - 1);
  return walk;
}

PrefixMatch SequenceMemory::match(const PrefixScope& scope, std::span<const int32_t> prompt) const {
  PrefixMatch match;
  prompt = prompt.first(std::min(prompt.size(), static_cast<size_t>(max_positions_)));
  const Walk found = walk(index_.find_root(scope), prompt);
  match.cached = longest(found.length, {}, found.n_path);
  for (const PageGroup& group : groups_) {
    if (group.window() != 0) continue;
    for (int32_t i = 0; i < full_pages(match.cached); ++i) {
      const int32_t page = index_.page(path_[static_cast<size_t>(i)], group.number());
      match.held.groups[static_cast<size_t>(group.number())] += group.pool().holders(page) > 0 ? 1 : 0;
    }
  }
  for (int32_t i = full_pages(match.cached); i < found.n_full; ++i) {
    const NodeId node = path_[static_cast<size_t>(i)];
    const SequenceId producer = index_.producer(node);
    if (producer.index < 0) {
      if (!complete(node)) break;
      continue;
    }
    const int64_t end = int64_t{i + 1} * kPagePositions;
    if (states_ && !states_->will_keep(producer.index, end)) continue;
    match.pending = std::min(end, static_cast<int64_t>(prompt.size()) - 1);
    match.producer = producer;
  }
  return match;
}

bool SequenceMemory::complete(NodeId node) const {
  return std::ranges::all_of(groups_, [&](const PageGroup& g) { return index_.page(node, g.number()) >= 0; });
}

bool SequenceMemory::has_state(NodeId node) const {
  return index_.page(node, static_cast<int32_t>(groups_.size())) >= 0;
}

int64_t SequenceMemory::attach(SequenceId sequence, std::span<const int32_t> prompt) {
  Sequence& s = present(sequence);
  QUIRE_CHECK(s.length == 0 && s.announced == kNoNode);
  QUIRE_CHECK(static_cast<int64_t>(prompt.size()) <= max_positions_);
  ++gauges_.lookups;
  if (s.tip == kNoNode) return 0;
  const Walk found = walk(s.tip, prompt);
  const int64_t shared = longest(found.length, {}, found.n_path);
  const auto end = static_cast<int32_t>(pages_for(shared));
  for (PageGroup& group : groups_) {
    group.hold(sequence.index, group.first_needed(shared), end, path_, index_);
  }
  if (states_) {
    states_->move_to(sequence.index, shared, path_, index_);
    // Whoever sends the prompt again computes its last token.
    const auto n_prompt = static_cast<int64_t>(prompt.size());
    states_->wish(sequence.index, (n_prompt - 1) / kPagePositions * kPagePositions);
  }
  std::ranges::copy(prompt.first(static_cast<size_t>(shared)), history(sequence));
  s.length = shared;
  if (full_pages(shared) > 0) move_tip(s, path_[static_cast<size_t>(full_pages(shared)) - 1]);
  gauges_.hits += shared > 0 ? 1 : 0;
  gauges_.positions_shared += shared;
  announce(sequence, prompt);
  return shared;
}

void SequenceMemory::announce(SequenceId sequence, std::span<const int32_t> prompt) {
  Sequence& s = state(sequence);
  NodeId last = s.tip;
  for (int32_t i = full_pages(s.length); i < full_pages(static_cast<int64_t>(prompt.size())); ++i) {
    const NodeId next = index_.add(last, page_tokens(prompt, i));
    if (next == kNoNode) break;
    index_.retain(next);
    if (last != s.tip) index_.release(last);
    last = next;
    const bool makes_state =
        states_ && !has_state(next) && states_->will_keep(sequence.index, int64_t{i + 1} * kPagePositions);
    if ((!complete(next) || makes_state) && index_.producer(next).index < 0)
      index_.set_producer(next, sequence);
  }
  if (last != s.tip) s.announced = last;
}

void SequenceMemory::withdraw(SequenceId sequence) {
  Sequence& s = state(sequence);
  if (s.announced == kNoNode) return;
  for (NodeId node = s.announced; index_.depth(node) > 0; node = index_.parent(node)) {
    if (index_.producer(node) == sequence) index_.set_producer(node, {});
  }
  index_.release(s.announced);
  s.announced = kNoNode;
}

// Full pages that were computed become findable; of two that were computed at the same time one is kept.
void SequenceMemory::index_full_pages(SequenceId sequence) {
  Sequence& s = state(sequence);
  if (s.tip == kNoNode) return;
  for (int32_t i = index_.depth(s.tip); i < full_pages(s.length); ++i) {
    const NodeId node = index_.add(s.tip, page_tokens(tokens(sequence), i));
    if (node == kNoNode) return;
    index_.retain(node);
    for (PageGroup& group : groups_) {
      const bool merged = group.index_page(sequence.index, i, node, index_) == PageGroup::Indexed::kMerged;
      gauges_.pages_merged += merged ? 1 : 0;
    }
    if (states_) states_->index_state(sequence.index, int64_t{i + 1} * kPagePositions, node, index_);
    if (index_.producer(node) == sequence) index_.set_producer(node, {});
    move_tip(s, node);
    index_.release(node);
  }
  if (s.announced != kNoNode && index_.depth(s.tip) >= index_.depth(s.announced)) withdraw(sequence);
}

}  // namespace quire

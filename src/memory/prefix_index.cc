#include "memory/prefix_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace quire {
namespace {

// How many children of one node are compared token by token; newer ones come first.
constexpr int kComparedChildren = 32;

uint64_t xxh3(const void* bytes, size_t n_bytes) { return XXH3_64bits(bytes, n_bytes); }

}  // namespace

PrefixIndex::PrefixIndex(const PrefixIndexConfig& config)
    : fingerprint_(config.fingerprint), hash_(config.hash == nullptr ? xxh3 : config.hash) {
  const auto n = static_cast<size_t>(config.max_nodes);
  nodes_.resize(n);
  slots_.resize(std::bit_ceil(2 * n + 1), kNoNode);
  for (NodeId node = config.max_nodes - 1; node >= 0; --node) {
    at(node).next_sibling = first_unused_;
    first_unused_ = node;
  }
}

size_t PrefixIndex::bytes() const {
  return nodes_.capacity() * sizeof(Node) + slots_.capacity() * sizeof(NodeId);
}

uint64_t PrefixIndex::hash_of(NodeId parent, const Content& content) const {
  struct {
    uint64_t before;
    int64_t depth;
    Content content;
  } key = {.before = fingerprint_, .depth = 0, .content = content};
  static_assert(std::has_unique_object_representations_v<decltype(key)>);
  if (parent != kNoNode) {
    key.before = at(parent).hash;
    key.depth = at(parent).depth + 1;
  }
  return hash_(&key, sizeof(key));
}

NodeId PrefixIndex::find(NodeId parent, const Content& content, uint64_t hash) const {
  for (size_t slot = home(hash); slots_[slot] != kNoNode; slot = (slot + 1) & (slots_.size() - 1)) {
    const Node& node = at(slots_[slot]);
    if (node.hash == hash && node.parent == parent && node.content == content) return slots_[slot];
  }
  return kNoNode;
}

NodeId PrefixIndex::find_root(const PrefixScope& scope) const {
  const auto content = std::bit_cast<Content>(scope.bytes());
  return find(kNoNode, content, hash_of(kNoNode, content));
}

NodeId PrefixIndex::add_root(const PrefixScope& scope) {
  return add(kNoNode, std::bit_cast<Content>(scope.bytes()));
}

NodeId PrefixIndex::find(NodeId parent, PageTokens tokens) const {
  Content content;
  std::memcpy(content.data(), tokens.data(), content.size());
  return find(parent, content, hash_of(parent, content));
}

NodeId PrefixIndex::add(NodeId parent, PageTokens tokens) {
  Content content;
  std::memcpy(content.data(), tokens.data(), content.size());
  return add(parent, content);
}

NodeId PrefixIndex::add(NodeId parent, const Content& content) {
  const uint64_t hash = hash_of(parent, content);
  const NodeId known = find(parent, content, hash);
  if (known != kNoNode || first_unused_ == kNoNode) return known;
  const NodeId added = first_unused_;
  first_unused_ = at(added).next_sibling;
  Node& node = at(added);
  node = {.hash = hash, .parent = parent, .depth = 0, .content = content};
  node.pages.fill(-1);
  if (parent != kNoNode) {
    Node& above = at(parent);
    node.depth = above.depth + 1;
    node.next_sibling = above.first_child;
    if (above.first_child != kNoNode) at(above.first_child).previous_sibling = added;
    above.first_child = added;
    ++above.references;
  }
  insert_slot(added);
  ++n_nodes_;
  return added;
}

PrefixIndex::Partial PrefixIndex::closest(NodeId parent, std::span<const int32_t> tokens) const {
  Partial best;
  const size_t n = std::min<size_t>(tokens.size(), kPagePositions);
  NodeId child = at(parent).first_child;
  for (int i = 0; i < kComparedChildren && child != kNoNode; ++i, child = at(child).next_sibling) {
    const auto content = std::bit_cast<std::array<int32_t, kPagePositions>>(at(child).content);
    const auto parts =
        std::mismatch(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(n), content.begin());
    const auto n_equal = static_cast<int32_t>(parts.first - tokens.begin());
    if (n_equal > best.n_equal) best = {.node = child, .n_equal = n_equal};
  }
  return best;
}

void PrefixIndex::set_page(NodeId node, int32_t group, int32_t page) {
  int32_t& mine = at(node).pages[static_cast<size_t>(group)];
  QUIRE_CHECK(mine < 0);
  mine = page;
  ++at(node).n_pages;
}

void PrefixIndex::clear_page(NodeId node, int32_t group) {
  int32_t& mine = at(node).pages[static_cast<size_t>(group)];
  QUIRE_CHECK(mine >= 0);
  mine = -1;
  --at(node).n_pages;
  end_unused(node);
}

void PrefixIndex::retain(NodeId node) { ++at(node).references; }

void PrefixIndex::release(NodeId node) {
  QUIRE_CHECK(at(node).references > 0);
  --at(node).references;
  end_unused(node);
}

// Ends the node, and those above it that only it kept alive.
void PrefixIndex::end_unused(NodeId node) {
  while (node != kNoNode && at(node).references == 0 && at(node).n_pages == 0) {
    Node& n = at(node);
    const NodeId parent = n.parent;
    if (n.next_sibling != kNoNode) at(n.next_sibling).previous_sibling = n.previous_sibling;
    if (n.previous_sibling != kNoNode) {
      at(n.previous_sibling).next_sibling = n.next_sibling;
    } else if (parent != kNoNode) {
      at(parent).first_child = n.next_sibling;
    }
    if (parent != kNoNode) --at(parent).references;
    erase_slot(node);
    n = {.next_sibling = first_unused_};
    first_unused_ = node;
    --n_nodes_;
    node = parent;
  }
}

void PrefixIndex::insert_slot(NodeId node) {
  size_t slot = home(at(node).hash);
  while (slots_[slot] != kNoNode) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = node;
}

// Closes the gap by moving back what would no longer be reached over it (Knuth, vol. 3, 6.4, algorithm R).
void PrefixIndex::erase_slot(NodeId node) {
  const size_t mask = slots_.size() - 1;
  size_t gap = home(at(node).hash);
  while (slots_[gap] != node) gap = (gap + 1) & mask;
  for (size_t slot = (gap + 1) & mask; slots_[slot] != kNoNode; slot = (slot + 1) & mask) {
    const size_t from = home(at(slots_[slot]).hash);
    if (((slot - from) & mask) < ((slot - gap) & mask)) continue;
    slots_[gap] = slots_[slot];
    gap = slot;
  }
  slots_[gap] = kNoNode;
}

Status PrefixIndex::check(std::span<const int32_t> holders) const {
  const auto broken = [](NodeId node, const char* what) {
    return make_error(ErrorCode::kInternal, "node {} of the prefix index {}", node, what);
  };
  std::vector<int32_t> children(nodes_.size(), 0);
  int32_t n_live = 0;
  for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) {
    const Node& node = at(id);
    if (node.depth < 0) continue;
    ++n_live;
    if (node.parent != kNoNode && at(node.parent).depth != node.depth - 1)
      return broken(id, "is not one deeper than its parent");
    if (node.parent != kNoNode) ++children[static_cast<size_t>(node.parent)];
    if (node.hash != hash_of(node.parent, node.content)) return broken(id, "has a hash of other content");
    if (find(node.parent, node.content, node.hash) != id) return broken(id, "is not found by its hash");
    const auto n_pages =
        std::count_if(node.pages.begin(), node.pages.end(), [](int32_t p) { return p >= 0; });
    if (n_pages != node.n_pages) return broken(id, "has lost count of its pages");
  }
  if (n_live != n_nodes_)
    return make_error(ErrorCode::kInternal, "{} nodes live, {} counted", n_live, n_nodes_);
  for (NodeId id = 0; id < static_cast<NodeId>(nodes_.size()); ++id) {
    const Node& node = at(id);
    if (node.depth < 0) continue;
    int32_t n_children = 0;
    for (NodeId child = node.first_child; child != kNoNode; child = at(child).next_sibling) {
      if (at(child).parent != id || ++n_children > n_live) return broken(id, "has a broken list of children");
    }
    const auto i = static_cast<size_t>(id);
    if (n_children != children[i] || node.references != n_children + holders[i])
      return broken(id, "has lost count of its references");
    if (node.references == 0 && node.n_pages == 0) return broken(id, "lives without a reason");
  }
  return {};
}

}  // namespace quire

// PrefixIndex: finds the pages whose content follows from given tokens.
//
// A tree. A node stands for one full page of one prefix: the 16 tokens of the page, its parent for those
// before, and, by group, the page that holds their keys and values (or none: not computed yet, or evicted);
// a checkpoint of states counts as the page of a group of its own. A root stands for a PrefixScope. A node's
// hash is XXH3 over (hash of the parent, depth, tokens), a root's over (model fingerprint, 0, scope), always
// 80 bytes; it depends on content only, not on this process. The hash finds, the comparison of parent and
// tokens decides: collisions cost time, never correctness.
//
// A node lives while a page, a child or a sequence refers to it. When all planned nodes are in use, new
// prefixes are simply not found again. Knows no bytes of pages. Owned by SequenceMemory; one thread at a
// time; never allocates after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "memory/page_group.h"
#include "memory/prefix_scope.h"
#include "memory/sequence_id.h"

namespace quire {

// Index of a node; kNoNode where there is none.
using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

using PageTokens = std::span<const int32_t, kPagePositions>;

struct PrefixIndexConfig {
  int32_t max_nodes = 0;  // 0 = nothing is ever found
  uint64_t fingerprint = 0;
  uint64_t (*hash)(const void* bytes, size_t n_bytes) = nullptr;  // null = XXH3
};

class PrefixIndex {
 public:
  explicit PrefixIndex(const PrefixIndexConfig& config);

  // --- Finding and adding. The add functions return kNoNode when all nodes are in use. ---
  NodeId find_root(const PrefixScope& scope) const;
  NodeId add_root(const PrefixScope& scope);  // or the one there is
  NodeId find(NodeId parent, PageTokens tokens) const;
  NodeId add(NodeId parent, PageTokens tokens);  // or the one there is
  // The child of `parent` that shares most of its first tokens with `tokens` (fewer than 16 may be given);
  // looks at the newest few children only.
  struct Partial {
    NodeId node = kNoNode;
    int32_t n_equal = 0;
  };
  Partial closest(NodeId parent, std::span<const int32_t> tokens) const;

  // --- Reading ---
  NodeId parent(NodeId node) const { return at(node).parent; }
  int32_t depth(NodeId node) const { return at(node).depth; }  // full pages up to and including this one
  uint64_t hash(NodeId node) const { return at(node).hash; }
  int32_t page(NodeId node, int32_t group) const { return at(node).pages[static_cast<size_t>(group)]; }
  SequenceId producer(NodeId node) const { return at(node).producer; }  // that announced to compute it
  // Whether prefixes that agree so far go on differently from here.
  bool has_sibling(NodeId node) const {
    return at(node).next_sibling != kNoNode || at(node).previous_sibling != kNoNode;
  }
  int32_t n_nodes() const { return n_nodes_; }
  int32_t max_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  size_t bytes() const;

  // --- Changing. Whoever takes the last reference away ends the node. ---
  void set_producer(NodeId node, SequenceId producer) { at(node).producer = producer; }
  void set_page(NodeId node, int32_t group, int32_t page);
  void clear_page(NodeId node, int32_t group);
  void retain(NodeId node);
  void release(NodeId node);

  // Every live node is found by its hash, and that hash follows from its content; links, depths and reference
  // counts agree; `holders[node]` sequences refer to each. Errors: kInternal naming what broke.
  Status check(std::span<const int32_t> holders) const;

 private:
  using Content = std::array<std::byte, PrefixScope::kBytes>;  // tokens of a page, or a scope
  static_assert(sizeof(Content) == sizeof(int32_t) * kPagePositions);
  struct Node {
    uint64_t hash = 0;
    NodeId parent = kNoNode;
    NodeId first_child = kNoNode, next_sibling = kNoNode, previous_sibling = kNoNode;
    int32_t depth = -1;  // -1: not in use
    int32_t references = 0;
    int32_t n_pages = 0;
    SequenceId producer = {};
    std::array<int32_t, kMaxPageGroups + 1> pages = {};  // the last one may be a checkpoint of states
    Content content = {};
  };
  const Node& at(NodeId node) const { return nodes_[static_cast<size_t>(node)]; }
  Node& at(NodeId node) { return nodes_[static_cast<size_t>(node)]; }
  uint64_t hash_of(NodeId parent, const Content& content) const;
  NodeId find(NodeId parent, const Content& content, uint64_t hash) const;
  NodeId add(NodeId parent, const Content& content);
  void end_unused(NodeId node);
  void insert_slot(NodeId node);
  void erase_slot(NodeId node);
  size_t home(uint64_t hash) const { return static_cast<size_t>(hash) & (slots_.size() - 1); }

  uint64_t fingerprint_;
  uint64_t (*hash_)(const void* bytes, size_t n_bytes);
  std::vector<Node> nodes_;
  NodeId first_unused_ = kNoNode;  // chained through next_sibling
  int32_t n_nodes_ = 0;
  std::vector<NodeId> slots_;  // open addressing, linear probing, at most half full
};

}  // namespace quire

// ByteTrie: a prefix tree over byte strings, for longest-prefix questions.
//
// Owns its nodes, not the texts. Built once, then immutable and thread safe.
//
//   ByteTrie trie(entries);
//   for (auto node = trie.step(ByteTrie::kRoot, text[i]); node != ByteTrie::kNone; ...) trie.value(node)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quire::tokenizer {

class ByteTrie {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = UINT32_MAX;

  struct Entry {
    std::string_view text;  // not empty
    int32_t value;          // >= 0
  };

  ByteTrie() : ByteTrie(std::vector<Entry>()) {}
  // Of entries with the same text the first one in the list counts.
  explicit ByteTrie(std::vector<Entry> entries);

  // The child of `node` along `byte`, or kNone.
  Node step(Node node, char byte) const {
    const auto label = static_cast<unsigned char>(byte);
    if (node == kRoot) return root_[label];
    const uint32_t begin = first_edge_[node], end = first_edge_[node + 1];
    if (end - begin <= 8) {
      for (uint32_t e = begin; e < end; ++e) {
        if (labels_[e] == label) return child_of_edge(e);
      }
      return kNone;
    }
    return step_wide(begin, end, label);
  }
  // The value of the text that ends at `node`, or -1.
  int32_t value(Node node) const { return values_[node]; }

  struct Match {
    int32_t value = -1;  // -1: no text of the trie is a prefix
    size_t length = 0;
  };
  Match longest_prefix(std::string_view text) const;

 private:
  // Nodes are numbered breadth first, so the child along edge e is node e + 1.
  static Node child_of_edge(uint32_t edge) { return edge + 1; }
  Node step_wide(uint32_t begin, uint32_t end, unsigned char label) const;

  std::array<Node, 256> root_;
  std::vector<uint32_t> first_edge_;  // per node, and one more
  std::vector<unsigned char> labels_;
  std::vector<int32_t> values_;
};

}  // namespace quire::tokenizer

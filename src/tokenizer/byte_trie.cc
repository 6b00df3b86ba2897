#include "tokenizer/byte_trie.h"

#include <algorithm>

namespace quire::tokenizer {

ByteTrie::ByteTrie(std::vector<Entry> entries) {
  root_.fill(kNone);
  std::ranges::stable_sort(entries, {}, &Entry::text);
  // Breadth first: every queue element is a node with the range of sorted entries that share its path.
  struct Range {
    size_t begin, end;
  };
  std::vector<Range> level = {{0, entries.size()}};
  std::vector<Range> next;
  for (size_t depth = 0; !level.empty(); ++depth) {
    next.clear();
    for (const Range range : level) {
      size_t at = range.begin;
      int32_t value = -1;
      for (; at < range.end && entries[at].text.size() == depth; ++at) {
        if (value < 0) value = entries[at].value;
      }
      values_.push_back(value);
      first_edge_.push_back(static_cast<uint32_t>(labels_.size()));
      while (at < range.end) {
        const char label = entries[at].text[depth];
        size_t stop = at + 1;
        while (stop < range.end && entries[stop].text[depth] == label) ++stop;
        labels_.push_back(static_cast<unsigned char>(label));
        next.push_back({at, stop});
        at = stop;
      }
    }
    level.swap(next);
  }
  first_edge_.push_back(static_cast<uint32_t>(labels_.size()));
  for (uint32_t e = first_edge_[0]; e < first_edge_[1]; ++e) root_[labels_[e]] = child_of_edge(e);
}

ByteTrie::Node ByteTrie::step_wide(uint32_t begin, uint32_t end, unsigned char label) const {
  const auto first = labels_.begin() + begin, last = labels_.begin() + end;
  const auto it = std::lower_bound(first, last, label);
  if (it == last || *it != label) return kNone;
  return child_of_edge(static_cast<uint32_t>(it - labels_.begin()));
}

ByteTrie::Match ByteTrie::longest_prefix(std::string_view text) const {
  Match best;
  Node node = kRoot;
  for (size_t i = 0; i < text.size(); ++i) {
    node = step(node, text[i]);
    if (node == kNone) break;
    if (values_[node] >= 0) best = {values_[node], i + 1};
  }
  return best;
}

}  // namespace quire::tokenizer

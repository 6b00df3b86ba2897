// MergeTable: which pairs of symbols merge, into what and how early.
//
// Open addressing, 16 bytes an entry. Filled once, then immutable and thread safe.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/merge_list.h"

namespace quire::tokenizer {

// Numbers symbols (strings) of a BPE vocabulary; >= 0. Negative numbers merge with nothing.
using SymbolId = int32_t;

class MergeTable {
 public:
  explicit MergeTable(size_t expected = 0) {
    size_t capacity = 16;
    while (capacity < 2 * expected + 2) capacity *= 2;
    slots_.resize(capacity);
  }

  // Of equal pairs the first one counts. No more than `expected` pairs may be inserted.
  void insert(SymbolId left, SymbolId right, uint32_t rank, SymbolId merged) {
    Slot& slot = slots_[locate(left, right)];
    if (slot.left < 0) slot = {left, right, rank, merged};
  }

  bool find(SymbolId left, SymbolId right, Merge<SymbolId, uint32_t>& out) const {
    const Slot& slot = slots_[locate(left, right)];
    out = {slot.rank, slot.merged};
    return slot.left >= 0;
  }

 private:
  struct Slot {
    SymbolId left = -1;
    SymbolId right = -1;
    uint32_t rank = 0;
    SymbolId merged = -1;
  };
  size_t locate(SymbolId left, SymbolId right) const {
    const size_t mask = slots_.size() - 1;
    const uint64_t key =
        (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
    size_t at = (key * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (slots_[at].left >= 0 && (slots_[at].left != left || slots_[at].right != right))
      at = (at + 1) & mask;
    return at;
  }
  std::vector<Slot> slots_;
};

// The pairs of MergeList for BPE.
struct RankPairs {
  using Symbol = SymbolId;
  using Cost = uint32_t;
  const MergeTable& table;
  bool lookup(SymbolId left, SymbolId right, Merge<SymbolId, uint32_t>& out) const {
    return left >= 0 && right >= 0 && table.find(left, right, out);
  }
};

}  // namespace quire::tokenizer

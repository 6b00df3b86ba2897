// MergeList: merges neighbouring symbols of one piece, best pair first, until no pair is left that can merge.
//
// The shared core of BPE by rank and by score. Short pieces are scanned, long ones use a heap over a linked
// list: n log n at worst. `Pairs` tells about a pair of symbols:
//   struct Pairs { using Symbol = ...; using Cost = ...;  // the lower cost merges first
//                  bool lookup(const Symbol& left, const Symbol& right, Merge<Symbol, Cost>& out) const; };
// Ties go to the leftmost pair. Scratch only: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quire::tokenizer {

template <typename Symbol, typename Cost>
struct Merge {
  Cost cost;
  Symbol merged;
};

template <typename Pairs>
class MergeList {
 public:
  using Symbol = typename Pairs::Symbol;
  using PairMerge = Merge<Symbol, typename Pairs::Cost>;

  std::vector<Symbol> symbols;  // in: the symbols of the piece; out: what is left, in order

  void run(const Pairs& pairs) {
    if (symbols.size() < 2) return;
    if (symbols.size() <= kScanLimit) {
      run_scan(pairs);
    } else {
      run_heap(pairs);
    }
  }

 private:
  static constexpr size_t kScanLimit = 24;

  struct Slot {
    bool valid;
    PairMerge merge;
  };

  void run_scan(const Pairs& pairs) {
    size_t n = symbols.size();
    slots_.resize(n);
    for (size_t i = 0; i + 1 < n; ++i)
      slots_[i].valid = pairs.lookup(symbols[i], symbols[i + 1], slots_[i].merge);
    while (true) {
      size_t best = n;
      for (size_t i = 0; i + 1 < n; ++i) {
        if (slots_[i].valid && (best == n || slots_[i].merge.cost < slots_[best].merge.cost)) best = i;
      }
      if (best == n) break;
      symbols[best] = slots_[best].merge.merged;
      for (size_t i = best + 1; i + 1 < n; ++i) {
        symbols[i] = symbols[i + 1];
        slots_[i] = slots_[i + 1];
      }
      --n;
      if (best > 0) {
        Slot& slot = slots_[best - 1];
        slot.valid = pairs.lookup(symbols[best - 1], symbols[best], slot.merge);
      }
      if (best + 1 < n) {
        Slot& slot = slots_[best];
        slot.valid = pairs.lookup(symbols[best], symbols[best + 1], slot.merge);
      }
    }
    symbols.resize(n);
  }

  struct Link {
    int32_t previous;
    int32_t next;
    uint32_t version;  // changes with the symbol
    bool alive;
  };
  struct Entry {
    PairMerge merge;
    int32_t left;
    int32_t right;
    uint32_t left_version;
    uint32_t right_version;
  };
  static bool later(const Entry& a, const Entry& b) {
    return b.merge.cost < a.merge.cost || (!(a.merge.cost < b.merge.cost) && a.left > b.left);
  }

  void push(const Pairs& pairs, int32_t left, int32_t right) {
    Entry entry;
    if (!pairs.lookup(symbols[at(left)], symbols[at(right)], entry.merge)) return;
    entry.left = left;
    entry.right = right;
    entry.left_version = links_[at(left)].version;
    entry.right_version = links_[at(right)].version;
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  void run_heap(const Pairs& pairs) {
    const int32_t n = static_cast<int32_t>(symbols.size());
    links_.resize(symbols.size());
    for (int32_t i = 0; i < n; ++i) links_[at(i)] = {i - 1, i + 1 < n ? i + 1 : -1, 0, true};
    heap_.clear();
    for (int32_t i = 0; i + 1 < n; ++i) push(pairs, i, i + 1);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Entry entry = heap_.back();
      heap_.pop_back();
      Link& left = links_[at(entry.left)];
      Link& right = links_[at(entry.right)];
      if (!left.alive || !right.alive || left.version != entry.left_version ||
          right.version != entry.right_version) {
        continue;
      }
      symbols[at(entry.left)] = entry.merge.merged;
      ++left.version;
      right.alive = false;
      left.next = right.next;
      if (left.next >= 0) {
        links_[at(left.next)].previous = entry.left;
        push(pairs, entry.left, left.next);
      }
      if (left.previous >= 0) push(pairs, left.previous, entry.left);
    }
    size_t out = 0;
    for (int32_t i = 0; i >= 0; i = links_[at(i)].next) symbols[out++] = symbols[at(i)];
    symbols.resize(out);
  }
  static size_t at(int32_t i) { return static_cast<size_t>(i); }

  std::vector<Slot> slots_;
  std::vector<Link> links_;
  std::vector<Entry> heap_;
};

}  // namespace quire::tokenizer

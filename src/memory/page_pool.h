// PagePool: which of a fixed number of pages are free.
//
// A flat array with an intrusive doubly linked free list: pages are taken from the front and given back at
// the back, so that recently freed pages are reused last. Knows page numbers only, no bytes. Owned by
// KvMemory; one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace quire {

class PagePool {
 public:
  explicit PagePool(int32_t n_pages);

  int32_t n_pages() const { return static_cast<int32_t>(pages_.size()) - 1; }
  int32_t n_free() const { return n_free_; }

  // The page at the front of the free list, or -1 when there is none. The caller owns it until release().
  int32_t take();
  // Gives an owned page back. Releasing a free page is a programmer error.
  void release(int32_t page);
  bool is_free(int32_t page) const { return pages_[index(page)].free; }

  // Sorts the free list ascending again: fresh sequences then get neighbouring pages. Changes no result.
  void sort_free();

  // The free list is a closed ring that holds exactly the pages marked free. Errors: kInternal naming what
  // broke.
  Status check() const;

 private:
  struct Node {
    int32_t previous, next;
    bool free;
  };
  static size_t index(int32_t page) { return static_cast<size_t>(page); }
  void append(int32_t page);
  int32_t sentinel() const { return n_pages(); }

  std::vector<Node> pages_;  // the last one is the ring's sentinel
  int32_t n_free_ = 0;
};

}  // namespace quire

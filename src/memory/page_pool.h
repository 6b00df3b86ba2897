// PagePool: which of a fixed number of pages are free, held or cached.
//
// A flat array with two intrusive rings. Free pages are taken from the front and given back at the back, so
// that recently freed pages are reused last. A cached page is held by nobody, but its content is worth
// keeping until the page is needed: those are in the order they were let go, oldest first. Knows page numbers
// only, no bytes. Owned by a PageGroup; one thread at a time; never allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace quire {

class PagePool {
 public:
  explicit PagePool(int32_t n_pages);

  int32_t n_pages() const { return n_pages_; }
  int32_t n_free() const { return n_free_; }
  int32_t n_cached() const { return n_cached_; }
  int32_t n_held() const { return n_pages_ - n_free_ - n_cached_; }

  // The page at the front of the free list, held once, or -1 when there is none.
  int32_t take();
  // One more holder; the page is held or cached.
  void retain(int32_t page);
  // One holder less; the last one frees the page or leaves it cached: as the last or, less worth keeping, the
  // first to be evicted.
  enum class Then : uint8_t { kFree, kCache, kCacheForNow };
  void release(int32_t page, Then then);

  // The page to evict next, or -1.
  int32_t oldest_cached() const;
  // Frees a cached page.
  void evict(int32_t page);

  int32_t holders(int32_t page) const { return pages_[index(page)].holders; }
  bool is_free(int32_t page) const { return pages_[index(page)].state == State::kFree; }
  bool is_cached(int32_t page) const { return pages_[index(page)].state == State::kCached; }

  // Sorts the free list ascending again: fresh sequences then get neighbouring pages. Changes no result.
  void sort_free();
  // Free pages are taken in this order from now on, those not named after it, ascending. Pages that are not
  // free or do not exist are passed over. Changes no result.
  void order_free(std::span<const int32_t> order);

  size_t bytes() const { return pages_.capacity() * sizeof(Page); }

  // Both rings are closed and hold exactly the pages marked so. Errors: kInternal naming what broke.
  Status check() const;

 private:
  enum class State : uint8_t { kHeld, kFree, kCached };
  struct Page {
    int32_t previous, next;
    int32_t holders = 0;
    State state = State::kHeld;
  };
  static size_t index(int32_t page) { return static_cast<size_t>(page); }
  int32_t free_ring() const { return n_pages_; }
  int32_t cached_ring() const { return n_pages_ + 1; }
  void free(int32_t page);
  void link(int32_t page, int32_t before);
  void unlink(int32_t page);
  Status check_ring(int32_t ring, State state, int32_t count) const;

  std::vector<Page> pages_;  // the last two are the sentinels of the rings
  int32_t n_pages_;
  int32_t n_free_ = 0, n_cached_ = 0;
};

}  // namespace quire

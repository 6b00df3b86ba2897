#include "memory/page_pool.h"

#include "base/check.h"

namespace quire {

PagePool::PagePool(int32_t n_pages) : n_pages_(n_pages) {
  QUIRE_CHECK(n_pages >= 0);
  pages_.resize(index(n_pages) + 2);
  for (const int32_t ring : {free_ring(), cached_ring()})
    pages_[index(ring)] = {.previous = ring, .next = ring};
  for (int32_t page = 0; page < n_pages; ++page) free(page);
}

void PagePool::link(int32_t page, int32_t before) {
  const int32_t after = pages_[index(before)].previous;
  pages_[index(page)].previous = after;
  pages_[index(page)].next = before;
  pages_[index(after)].next = page;
  pages_[index(before)].previous = page;
}

void PagePool::unlink(int32_t page) {
  const Page& p = pages_[index(page)];
  pages_[index(p.previous)].next = p.next;
  pages_[index(p.next)].previous = p.previous;
}

void PagePool::free(int32_t page) {
  link(page, free_ring());
  pages_[index(page)].state = State::kFree;
  ++n_free_;
}

int32_t PagePool::take() {
  const int32_t page = pages_[index(free_ring())].next;
  if (page == free_ring()) return -1;
  unlink(page);
  pages_[index(page)].state = State::kHeld;
  pages_[index(page)].holders = 1;
  --n_free_;
  return page;
}

void PagePool::retain(int32_t page) {
  QUIRE_CHECK(page >= 0 && page < n_pages_ && !is_free(page));
  Page& p = pages_[index(page)];
  if (p.state == State::kCached) {
    unlink(page);
    p.state = State::kHeld;
    --n_cached_;
  }
  ++p.holders;
}

void PagePool::release(int32_t page, Then then) {
  QUIRE_CHECK(page >= 0 && page < n_pages_ && pages_[index(page)].state == State::kHeld);
  Page& p = pages_[index(page)];
  if (--p.holders > 0) return;
  if (then == Then::kFree) return free(page);
  link(page, then == Then::kCache ? cached_ring() : pages_[index(cached_ring())].next);
  p.state = State::kCached;
  ++n_cached_;
}

int32_t PagePool::oldest_cached() const {
  const int32_t page = pages_[index(cached_ring())].next;
  return page == cached_ring() ? -1 : page;
}

void PagePool::evict(int32_t page) {
  QUIRE_CHECK(is_cached(page));
  unlink(page);
  --n_cached_;
  free(page);
}

void PagePool::sort_free() {
  // Appending each free page in turn leaves them in that order.
  for (int32_t page = 0; page < n_pages_; ++page) {
    if (!is_free(page)) continue;
    unlink(page);
    link(page, free_ring());
  }
}

void PagePool::order_free(std::span<const int32_t> order) {
  sort_free();
  for (auto page = order.rbegin(); page != order.rend(); ++page) {
    if (*page < 0 || *page >= n_pages_ || !is_free(*page)) continue;
    unlink(*page);
    link(*page, pages_[index(free_ring())].next);
  }
}

Status PagePool::check_ring(int32_t ring, State state, int32_t count) const {
  int32_t seen = 0;
  int32_t previous = ring;
  for (int32_t page = pages_[index(ring)].next; page != ring; page = pages_[index(page)].next) {
    const Page& p = pages_[index(page)];
    if (p.state != state || p.holders != 0)
      return make_error(ErrorCode::kInternal, "page {} is in a ring it is not marked for", page);
    if (p.previous != previous)
      return make_error(ErrorCode::kInternal, "page {} has a broken back link", page);
    previous = page;
    if (++seen > n_pages_) return make_error(ErrorCode::kInternal, "a ring of pages does not close");
  }
  int32_t marked = 0;
  for (int32_t page = 0; page < n_pages_; ++page) marked += pages_[index(page)].state == state ? 1 : 0;
  if (seen != count || marked != count) {
    return make_error(ErrorCode::kInternal, "{} pages counted, {} in their ring, {} marked", count, seen,
                      marked);
  }
  return {};
}

Status PagePool::check() const {
  QUIRE_RETURN_IF_ERROR(check_ring(free_ring(), State::kFree, n_free_));
  return check_ring(cached_ring(), State::kCached, n_cached_);
}

}  // namespace quire

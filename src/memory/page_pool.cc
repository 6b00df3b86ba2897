#include "memory/page_pool.h"

#include "base/check.h"

namespace quire {

PagePool::PagePool(int32_t n_pages) {
  QUIRE_CHECK(n_pages >= 0);
  pages_.resize(index(n_pages) + 1);
  pages_.back() = {.previous = n_pages, .next = n_pages, .free = false};
  for (int32_t page = 0; page < n_pages; ++page) append(page);
}

void PagePool::append(int32_t page) {
  const int32_t end = sentinel();
  const int32_t last = pages_[index(end)].previous;
  pages_[index(page)] = {.previous = last, .next = end, .free = true};
  pages_[index(last)].next = page;
  pages_[index(end)].previous = page;
  ++n_free_;
}

int32_t PagePool::take() {
  const int32_t end = sentinel();
  const int32_t page = pages_[index(end)].next;
  if (page == end) return -1;
  Node& node = pages_[index(page)];
  pages_[index(end)].next = node.next;
  pages_[index(node.next)].previous = end;
  node.free = false;
  --n_free_;
  return page;
}

void PagePool::release(int32_t page) {
  QUIRE_CHECK(page >= 0 && page < n_pages() && !is_free(page));
  append(page);
}

void PagePool::sort_free() {
  const int32_t end = sentinel();
  pages_[index(end)] = {.previous = end, .next = end, .free = false};
  n_free_ = 0;
  for (int32_t page = 0; page < n_pages(); ++page) {
    if (is_free(page)) append(page);
  }
}

Status PagePool::check() const {
  const int32_t end = sentinel();
  int32_t seen = 0;
  int32_t previous = end;
  for (int32_t page = pages_[index(end)].next; page != end; page = pages_[index(page)].next) {
    const Node& node = pages_[index(page)];
    if (!node.free)
      return make_error(ErrorCode::kInternal, "page {} is in the free list but not marked free", page);
    if (node.previous != previous)
      return make_error(ErrorCode::kInternal, "page {} has a broken back link", page);
    previous = page;
    if (++seen > n_pages()) return make_error(ErrorCode::kInternal, "the free list has a cycle");
  }
  int32_t marked = 0;
  for (int32_t page = 0; page < n_pages(); ++page) marked += is_free(page) ? 1 : 0;
  if (seen != n_free_ || marked != n_free_) {
    return make_error(ErrorCode::kInternal, "{} pages counted free, {} in the list, {} marked", n_free_, seen,
                      marked);
  }
  return {};
}

}  // namespace quire

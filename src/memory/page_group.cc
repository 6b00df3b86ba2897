#include "memory/page_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "memory/prefix_index.h"

namespace quire {

size_t PageGroupConfig::page_bytes() const {
  return std::accumulate(page_strides.begin(), page_strides.end(), size_t{0});
}

PageGroup::PageGroup(const PageGroupConfig& config)
    : config_(config), pool_(config.n_pages), spill_pool_(config.n_spill_pages) {
  table_stride_ = static_cast<size_t>(pages_for(config.max_positions));
  const auto n_sequences = static_cast<size_t>(config.max_sequences);
  tables_.resize(n_sequences * table_stride_, -1);
  held_.resize(n_sequences);
  nodes_.resize(static_cast<size_t>(config.n_pages), kNoNode);
  slots_.reserve(static_cast<size_t>(config.max_step_tokens));
  spans_.reserve(n_sequences);
  size_t base = 0;
  for (const size_t stride : config.page_strides) {
    bases_.push_back(base);
    base += stride * static_cast<size_t>(config.n_pages);
  }
}

Result<PageGroup> PageGroup::create(const PageGroupConfig& config) {
  QUIRE_CHECK(config.n_pages > 0 && config.max_sequences > 0 && config.max_positions > 0);
  PageGroup group(config);
  const size_t page_bytes = config.page_bytes();
  QUIRE_ASSIGN_OR_RETURN(
      group.region_,
      MemoryRegion::allocate(page_bytes * static_cast<size_t>(config.n_pages), config.allocation));
  QUIRE_ASSIGN_OR_RETURN(
      group.spill_region_,
      MemoryRegion::allocate(page_bytes * static_cast<size_t>(config.n_spill_pages), config.allocation));
  return group;
}

size_t PageGroup::table_bytes() const {
  return (tables_.capacity() + nodes_.capacity()) * sizeof(int32_t) + held_.capacity() * sizeof(Held) +
         slots_.capacity() * sizeof(int64_t) + spans_.capacity() * sizeof(StepSpan) + pool_.bytes() +
         spill_pool_.bytes();
}

void PageGroup::fault_in() const {
  region_.fault_in(0, region_.size());
  spill_region_.fault_in(0, spill_region_.size());
}

std::byte* PageGroup::layer_pages(size_t layer) const {
  return region_.data() == nullptr ? nullptr : region_.data() + bases_[layer];
}

int32_t PageGroup::first_needed(int64_t length) const {
  return config_.window == 0
             ? 0
             : static_cast<int32_t>(std::max<int64_t>(0, length - config_.window + 1) / kPagePositions);
}

int32_t PageGroup::needed(int32_t sequence, int64_t length, int64_t n_tokens) const {
  const int32_t end = held(sequence).end;
  const auto added = static_cast<int32_t>(pages_for(length + n_tokens)) - end;
  if (length % kPagePositions == 0) return added;
  const int32_t last = page(sequence, end - 1);
  const bool copied = pool_.holders(last) > 1 || (node_of(last) != kNoNode && available() > added);
  return added + (copied ? 1 : 0);
}

int32_t PageGroup::needed_for(int64_t n_tokens) const {
  if (config_.window == 0) return static_cast<int32_t>(pages_for(n_tokens));
  // An interval of n positions touches at most one page more than pages_for(n).
  const int64_t step = std::min(n_tokens, config_.max_step_tokens);
  return static_cast<int32_t>(std::min(pages_for(n_tokens), pages_for(config_.window - 1 + step) + 1));
}

int32_t PageGroup::take(PrefixIndex& index) {
  if (pool_.n_free() == 0) evict_oldest(index);
  const int32_t page = pool_.take();
  QUIRE_CHECK(page >= 0);
  return page;
}

void PageGroup::evict_oldest(PrefixIndex& index) {
  const int32_t page = pool_.oldest_cached();
  QUIRE_CHECK(page >= 0);
  forget(page, index);
  pool_.evict(page);
  ++n_evicted_;
}

void PageGroup::forget(int32_t page, PrefixIndex& index) {
  index.clear_page(node_of(page), config_.number);
  node_of(page) = kNoNode;
}

void PageGroup::release(int32_t page, PrefixIndex& index, PagePool::Then cached) {
  pool_.release(page, node_of(page) == kNoNode ? PagePool::Then::kFree : cached);
  while (pool_.n_cached() > config_.max_cached) evict_oldest(index);
}

void PageGroup::copy_page(int32_t from, int32_t to) {
  ++n_copied_;
  if (region_.data() == nullptr) return;
  for (size_t layer = 0; layer < bases_.size(); ++layer) {
    const size_t stride = config_.page_strides[layer];
    std::byte* pages = layer_pages(layer);
    std::memcpy(pages + static_cast<size_t>(to) * stride, pages + static_cast<size_t>(from) * stride, stride);
  }
}

void PageGroup::grow(int32_t sequence, int64_t length, int64_t n_tokens, PrefixIndex& index) {
  Held& h = held(sequence);
  int32_t* pages = table(sequence);
  const int32_t last = h.end - 1;
  const int32_t first_evicted = h.end + pool_.n_free();
  while (h.end < pages_for(length + n_tokens)) pages[h.end++] = take(index);
  // They come in the order they were let go, a sequence's last one first; attention fetches ahead best
  // through ascending ones.
  if (first_evicted < h.end) std::sort(pages + first_evicted, pages + h.end);
  if (length % kPagePositions == 0) return;
  int32_t& page = pages[last];
  const bool shared = pool_.holders(page) > 1;
  if (!shared && node_of(page) == kNoNode) return;
  if (!shared && available() == 0) {
    // No page is left to copy to, so none is cached that follows from this one: it can be forgotten instead.
    forget(page, index);
    return;
  }
  const int32_t copy = take(index);
  copy_page(page, copy);
  release(page, index);
  page = copy;
}

void PageGroup::add_rows(int32_t sequence, int64_t length, int64_t n_tokens) {
  const int32_t* pages = table(sequence);
  const auto begin = static_cast<int32_t>(slots_.size());
  for (int64_t p = length - n_tokens; p < length; ++p) {
    slots_.push_back(int64_t{pages[p / kPagePositions]} * kPagePositions + p % kPagePositions);
  }
  spans_.push_back({.row_begin = begin, .row_end = static_cast<int32_t>(slots_.size()), .table = pages});
}

int32_t PageGroup::hold(int32_t sequence, int32_t first, int32_t end, std::span<const NodeId> path,
                        PrefixIndex& index) {
  Held& h = held(sequence);
  int32_t* pages = table(sequence);
  const int32_t present =
      h.first == h.end ? end : std::min(h.first, end);  // the table has those from here on
  for (int32_t i = first; i < present; ++i) {
    pages[i] = index.page(path[static_cast<size_t>(i)], config_.number);
    pool_.retain(pages[i]);
  }
  while (h.end > std::max(end, h.first)) {
    release(pages[--h.end], index);
    pages[h.end] = -1;
  }
  h = {.first = std::min(first, present), .end = end};
  return std::max(0, present - first);
}

void PageGroup::fork(int32_t from, int32_t to) {
  held(to) = held(from);
  for (int32_t i = held(from).first; i < held(from).end; ++i) {
    pool_.retain(page(from, i));
    table(to)[i] = page(from, i);
  }
}

// Whether prefixes go different ways at the end of page i or within the window that begins there: a sequence
// that continues from such a place needs page i.
bool PageGroup::branches_after(int32_t i, NodeId tip, const PrefixIndex& index) const {
  if (tip == kNoNode) return false;
  const auto reach = static_cast<int32_t>(pages_for(config_.window - 1));
  for (NodeId node = tip; index.depth(node) > i + 1; node = index.parent(node)) {
    if (index.depth(node) <= i + 1 + reach && index.has_sibling(node)) return true;
  }
  return false;
}

void PageGroup::release_before(int32_t sequence, int32_t first, NodeId tip, PrefixIndex& index) {
  Held& h = held(sequence);
  int32_t* pages = table(sequence);
  for (; h.first < std::min(first, h.end); ++h.first) {
    release(pages[h.first], index,
            branches_after(h.first, tip, index) ? PagePool::Then::kCache : PagePool::Then::kCacheForNow);
    pages[h.first] = -1;
  }
}

PageGroup::Indexed PageGroup::index_page(int32_t sequence, int32_t i, NodeId node, PrefixIndex& index) {
  const Held& h = held(sequence);
  if (i < h.first || i >= h.end) return Indexed::kUnchanged;
  int32_t& mine = table(sequence)[i];
  const int32_t known = index.page(node, config_.number);
  if (known == mine) return Indexed::kUnchanged;
  if (known < 0 && node_of(mine) == kNoNode) {
    index.set_page(node, config_.number, mine);
    node_of(mine) = node;
    return Indexed::kAdded;
  }
  if (known < 0) return Indexed::kUnchanged;
  pool_.retain(known);
  release(mine, index);
  mine = known;
  return Indexed::kMerged;
}

void PageGroup::begin_step() {
  slots_.clear();
  spans_.clear();
}

void PageGroup::clear_cache(PrefixIndex& index) {
  while (pool_.n_cached() > 0) evict_oldest(index);
}

void PageGroup::sort_if_idle() {
  if (pool_.n_held() == 0) pool_.sort_free();
}

Status PageGroup::check(const PrefixIndex& index) const {
  QUIRE_RETURN_IF_ERROR(pool_.check());
  const auto broken = [&](int32_t page, const char* what) {
    return make_error(ErrorCode::kInternal, "page {} of the group of window {} {}", page, config_.window,
                      what);
  };
  std::vector<int32_t> owners(nodes_.size(), 0);
  std::vector<size_t> last_seen(nodes_.size(), held_.size());
  int32_t n_spilled = 0;
  for (size_t s = 0; s < held_.size(); ++s) {
    if (held_[s].spilled) {
      n_spilled += held_[s].end - held_[s].first;
      continue;
    }
    const auto sequence = static_cast<int32_t>(s);
    for (int32_t i = 0; i < static_cast<int32_t>(table_stride_); ++i) {
      const int32_t p = page(sequence, i);
      const bool inside = i >= held_[s].first && i < held_[s].end;
      if (inside != (p >= 0) || p >= pool_.n_pages())
        return broken(p, inside ? "stands inside a table" : "stands outside a table's pages");
      if (!inside) continue;
      if (last_seen[static_cast<size_t>(p)] == s) return broken(p, "is in a table twice");
      last_seen[static_cast<size_t>(p)] = s;
      ++owners[static_cast<size_t>(p)];
    }
  }
  QUIRE_RETURN_IF_ERROR(spill_pool_.check());
  if (n_spilled != spill_pool_.n_held())
    return make_error(ErrorCode::kInternal, "{} pages are spilled, {} in use there", n_spilled,
                      spill_pool_.n_held());
  for (int32_t p = 0; p < pool_.n_pages(); ++p) {
    const int32_t n = owners[static_cast<size_t>(p)];
    const bool resting = pool_.is_free(p) || pool_.is_cached(p);
    if (pool_.holders(p) != n || resting != (n == 0)) return broken(p, "has other holders than owners");
    const NodeId node = node_of(p);
    if (pool_.is_cached(p) && node == kNoNode) return broken(p, "is cached and cannot be found");
    if (pool_.is_free(p) && node != kNoNode) return broken(p, "is free and in the prefix index");
    if (node == kNoNode) continue;
    if (index.depth(node) < 1 || index.page(node, config_.number) != p)
      return broken(p, "is not its node's page");
    const NodeId parent = index.parent(node);
    if (config_.window == 0 && index.depth(parent) > 0 && index.page(parent, config_.number) < 0)
      return broken(p, "outlived the page before it");
  }
  return {};
}

}  // namespace quire

// The part of PageGroup that copies pages out and back. In the spill area the layers of a page lie together.
#include <cstring>

#include "base/check.h"
#include "memory/page_group.h"
#include "memory/prefix_index.h"

namespace quire {

bool PageGroup::can_spill(int32_t sequence) const {
  return held(sequence).end - held(sequence).first <= spill_pool_.n_free();
}

void PageGroup::copy_spilled(int32_t page, int32_t spill_page, Direction direction) {
  if (region_.data() == nullptr) return;
  std::byte* spilled = spill_region_.data() + static_cast<size_t>(spill_page) * page_bytes();
  for (size_t layer = 0; layer < bases_.size(); ++layer) {
    const size_t stride = config_.page_strides[layer];
    std::byte* here = layer_pages(layer) + static_cast<size_t>(page) * stride;
    if (direction == Direction::kOut) {
      std::memcpy(spilled, here, stride);
    } else {
      std::memcpy(here, spilled, stride);
    }
    spilled += stride;
  }
}

void PageGroup::spill(int32_t sequence, PrefixIndex& index) {
  Held& h = held(sequence);
  QUIRE_CHECK(!h.spilled);
  h.spilled = true;
  int32_t* pages = table(sequence);
  for (int32_t i = h.end - 1; i >= h.first; --i) {
    const int32_t spill_page = spill_pool_.take();
    QUIRE_CHECK(spill_page >= 0);
    copy_spilled(pages[i], spill_page, Direction::kOut);
    release(pages[i], index);
    pages[i] = spill_page;
  }
}

int32_t PageGroup::needed_to_restore(int32_t sequence, std::span<const NodeId> path,
                                     const PrefixIndex& index) const {
  const Held& h = held(sequence);
  int32_t needed = 0;
  for (int32_t i = h.first; i < h.end; ++i) {
    const int32_t known = known_page(path, i, index);
    if (known < 0 || pool_.is_cached(known)) ++needed;
  }
  return needed;
}

int32_t PageGroup::known_page(std::span<const NodeId> path, int32_t i, const PrefixIndex& index) const {
  return static_cast<size_t>(i) < path.size() ? index.page(path[static_cast<size_t>(i)], config_.number) : -1;
}

void PageGroup::restore(int32_t sequence, std::span<const NodeId> path, PrefixIndex& index) {
  Held& h = held(sequence);
  QUIRE_CHECK(h.spilled);
  h.spilled = false;
  int32_t* pages = table(sequence);
  // What is still there is held before pages are taken, so that none of it is evicted for them.
  for (int32_t i = h.first; i < h.end; ++i) {
    const int32_t known = known_page(path, i, index);
    if (known >= 0) pool_.retain(known);
  }
  for (int32_t i = h.first; i < h.end; ++i) {
    const int32_t spill_page = pages[i];
    pages[i] = known_page(path, i, index);
    if (pages[i] < 0) {
      pages[i] = take(index);
      copy_spilled(pages[i], spill_page, Direction::kBack);
      // Findable again, so that pages that follow it are never indexed without it.
      if (static_cast<size_t>(i) < path.size()) {
        const NodeId node = path[static_cast<size_t>(i)];
        index.set_page(node, config_.number, pages[i]);
        node_of(pages[i]) = node;
      }
    }
    spill_pool_.release(spill_page, PagePool::Then::kFree);
  }
}

void PageGroup::drop_spilled(int32_t sequence) {
  Held& h = held(sequence);
  QUIRE_CHECK(h.spilled);
  int32_t* pages = table(sequence);
  for (int32_t i = h.first; i < h.end; ++i) {
    spill_pool_.release(pages[i], PagePool::Then::kFree);
    pages[i] = -1;
  }
  h = {};
}

}  // namespace quire

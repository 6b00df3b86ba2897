// PageCounts: numbers of pages by group; what there is, or what something takes. Plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/page_group.h"

namespace quire {

struct PageCounts {
  std::array<int32_t, kMaxPageGroups> groups = {};

  PageCounts& operator+=(const PageCounts& other) {
    for (size_t g = 0; g < groups.size(); ++g) groups[g] += other.groups[g];
    return *this;
  }
  PageCounts& operator-=(const PageCounts& other) {
    for (size_t g = 0; g < groups.size(); ++g) groups[g] -= other.groups[g];
    return *this;
  }
  // In every group.
  bool fits(const PageCounts& available) const {
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g] > available.groups[g]) return false;
    }
    return true;
  }
  friend bool operator==(const PageCounts&, const PageCounts&) = default;
};

}  // namespace quire

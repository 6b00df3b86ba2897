// Which groups the layers of a model form, and how many pages and index nodes each gets. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "memory/memory_config.h"
#include "memory/page_group.h"
#include "memory/state_group.h"

namespace quire {

inline constexpr int32_t kStateGroup = -1;

struct LayerPlace {
  int32_t group = 0;  // of pages, or kStateGroup
  size_t index = 0;   // within the group
};

struct GroupPlan {
  std::vector<PageGroupConfig> groups;          // by window, the full one first
  std::optional<StateGroupConfig> states = {};  // where some layer needs one
  std::vector<LayerPlace> layers;               // by index into the needs
  int32_t max_nodes = 0;                        // of the prefix index
};

// Errors: kUnsupported when the layers have more than kMaxPageGroups different windows.
Result<GroupPlan> plan_groups(const MemoryConfig& config);
// The greatest n_pages, at most config's, with which all groups' pages together fit so many bytes; 0 when not
// even one does. Errors: those of plan_groups().
Result<int32_t> pages_within(MemoryConfig config, uint64_t bytes);

}  // namespace quire

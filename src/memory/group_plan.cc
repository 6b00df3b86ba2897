#include "memory/group_plan.h"

#include <algorithm>
#include <map>

namespace quire {
namespace {

// What one layer keeps of a position, and of which positions.
struct Kept {
  size_t values;
  int32_t window;
};
Kept kept_by(const AttentionNeed& need) {
  return {static_cast<size_t>(need.n_head_kv) * static_cast<size_t>(need.d_k + need.d_v), need.window};
}
Kept kept_by(const LatentNeed& need) { return {static_cast<size_t>(need.width), 0}; }
Kept kept_by(const RecurrentNeed&) { return {}; }  // nothing in pages
Kept kept_by(const LayerNeed& need) {
  return std::visit([](const auto& one) { return kept_by(one); }, need);
}

// Pages of a group with which no append can fail for lack of them, whatever the sequences' lengths; of a
// windowed one also, for each sequence, room for a window that stays cached, so that prefixes are found while
// all sequences are at work.
int32_t enough_pages(const MemoryConfig& config, int32_t window) {
  if (window == 0) return config.n_pages;
  // Between steps a sequence holds window - 1 positions, which may begin and end inside pages; a step's new
  // rows lie in pages of their own but for one more partly filled page a sequence.
  const int64_t each = std::min(pages_for(config.max_positions), pages_for(window - 1) + 2);
  const int64_t cached = config.prefix_cache == PrefixCache::kOn ? pages_for(window - 1) + 1 : 0;
  const int64_t all = (each + cached) * config.max_sequences + pages_for(config.max_step_tokens);
  return static_cast<int32_t>(std::min<int64_t>(config.n_pages, all));
}

// Checkpoints that can be of use: one at the last page of every sequence and, where others can find them, two
// more for each and those of prefixes as long as all pages. Never more than the limit of bytes holds.
int32_t useful_checkpoints(const MemoryConfig& config, size_t slot_bytes) {
  int64_t useful = config.max_sequences;
  if (config.prefix_cache == PrefixCache::kOn)
    useful = 3 * useful + int64_t{config.n_pages} * kPagePositions / config.checkpoint_every;
  const size_t fit = config.max_checkpoint_bytes / std::max<size_t>(slot_bytes, 1);
  return static_cast<int32_t>(std::min<size_t>(static_cast<size_t>(useful), fit));
}

StateGroupConfig plan_states(const MemoryConfig& config, int32_t number) {
  StateGroupConfig states{.number = number,
                          .checkpoint_every = config.checkpoint_every,
                          .max_draft = config.max_draft,
                          .max_sequences = config.max_sequences,
                          .max_step_tokens = config.max_step_tokens,
                          .allocation = config.allocation};
  for (const LayerNeed& need : config.needs) {
    if (const auto* recurrent = std::get_if<RecurrentNeed>(&need))
      states.layer_floats.push_back(recurrent->tail_elements + recurrent->state_elements);
  }
  states.n_checkpoints =
      useful_checkpoints(config, static_cast<size_t>(states.slot_floats()) * sizeof(float));
  return states;
}

}  // namespace

Result<GroupPlan> plan_groups(const MemoryConfig& config) {
  std::map<int32_t, PageGroupConfig> by_window;
  for (const LayerNeed& need : config.needs) {
    if (std::holds_alternative<RecurrentNeed>(need)) continue;
    const Kept kept = kept_by(need);
    by_window[kept.window].page_strides.push_back(kept.values * size_t{kPagePositions} *
                                                  static_cast<size_t>(config.element_bytes));
  }
  if (by_window.size() > kMaxPageGroups) {
    return make_error(ErrorCode::kUnsupported,
                      "the layers have {} different windows, at most {} are possible", by_window.size(),
                      kMaxPageGroups);
  }

  GroupPlan plan;
  size_t all_bytes = 0;
  int64_t all_pages = 0;
  for (auto& [window, group] : by_window) {
    group.number = static_cast<int32_t>(plan.groups.size());
    group.window = window;
    group.n_pages = enough_pages(config, window);
    group.n_spill_pages = std::min(config.n_spill_pages, group.n_pages);
    group.max_sequences = config.max_sequences;
    group.max_positions = config.max_positions;
    group.max_step_tokens = config.max_step_tokens;
    group.allocation = config.allocation;
    all_bytes += group.page_bytes() * static_cast<size_t>(group.n_pages);
    all_pages += group.n_pages;
    plan.groups.push_back(group);
  }
  // The limit of cached bytes is shared out by size.
  const double share =
      all_bytes == 0 ? 1.0 : static_cast<double>(config.max_cached_bytes) / static_cast<double>(all_bytes);
  for (PageGroupConfig& group : plan.groups) {
    group.max_cached = static_cast<int32_t>(std::min(1.0, share) * group.n_pages);
  }
  const bool has_states = std::ranges::any_of(
      config.needs, [](const LayerNeed& need) { return std::holds_alternative<RecurrentNeed>(need); });
  if (has_states) plan.states = plan_states(config, static_cast<int32_t>(plan.groups.size()));

  // A node for every page, or every 16 positions where there are no pages, and as many again for pages that
  // are announced.
  if (plan.groups.empty()) all_pages = config.n_pages;
  if (config.prefix_cache == PrefixCache::kOn)
    plan.max_nodes =
        static_cast<int32_t>(std::min<int64_t>(2 * all_pages + config.max_sequences, INT32_MAX / 4));

  std::map<int32_t, size_t> n_layers;  // by window, so far
  size_t n_state_layers = 0;
  for (const LayerNeed& need : config.needs) {
    if (std::holds_alternative<RecurrentNeed>(need)) {
      plan.layers.push_back({.group = kStateGroup, .index = n_state_layers++});
      continue;
    }
    const int32_t window = kept_by(need).window;
    plan.layers.push_back({.group = by_window[window].number, .index = n_layers[window]++});
  }
  return plan;
}

Result<int32_t> pages_within(MemoryConfig config, uint64_t bytes) {
  int32_t fits = 0, too_many = config.n_pages + 1;
  while (too_many - fits > 1) {
    config.n_pages = fits + (too_many - fits) / 2;
    QUIRE_ASSIGN_OR_RETURN(const GroupPlan plan, plan_groups(config));
    uint64_t needed = 0;
    for (const PageGroupConfig& group : plan.groups)
      needed += group.page_bytes() * static_cast<uint64_t>(group.n_pages);
    (needed <= bytes ? fits : too_many) = config.n_pages;
  }
  return fits;
}

}  // namespace quire

#include "engine/page_map.h"

#include <utility>

#include "engine/engine_job.h"

namespace quire {
namespace {

PageMap::Group draw_group(const PageGroup& group, const PageMap& map, RequestTable& table) {
  PageMap::Group out{.window = group.window()};
  const PagePool& pool = group.pool();
  out.pages.resize(static_cast<size_t>(pool.n_pages()));
  for (int32_t i = 0; i < pool.n_pages(); ++i) {
    PageMap::Page& page = out.pages[static_cast<size_t>(i)];
    page.holders = pool.holders(i);
    if (!pool.is_free(i)) page.owner = kCachedPage;
  }
  for (const PageMap::Owner& owner : map.owners) {
    const int32_t sequence = table.at(owner.slot).sequence.index;
    for (int32_t i = group.first_page(sequence); i < group.end_page(sequence); ++i) {
      PageMap::Page& page = out.pages[static_cast<size_t>(group.page(sequence, i))];
      if (page.owner < 0) page.owner = owner.slot;
    }
  }
  return out;
}

PageMap draw(const SequenceMemory& memory, RequestTable& table) {
  PageMap map;
  const SchedulerState state = table.state({});
  for (size_t slot = 0; slot < state.running.size(); ++slot) {
    const RunningRequest& running = state.running[slot];
    if (running.use == SlotUse::kFree) continue;
    const LiveRequest& request = table.at(static_cast<int32_t>(slot));
    map.owners.push_back({.slot = static_cast<int32_t>(slot),
                          .tenant = request.tenant,
                          .number = request.claim.number,
                          .positions = running.held,
                          .prompt_tokens = request.n_prompt,
                          .reused_tokens = request.n_reused});
  }
  for (int32_t g = 0; g < memory.n_groups(); ++g)
    map.groups.push_back(draw_group(memory.group(g), map, table));
  return map;
}

}  // namespace

PageMap PageMapBoard::take_and_ask() {
  const std::lock_guard lock(mutex_);
  asked_ = true;
  return map_;
}

void PageMapBoard::draw_if_asked(const SequenceMemory& memory, RequestTable& table) {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(asked_, false)) return;
  }
  PageMap map = draw(memory, table);
  const std::lock_guard lock(mutex_);
  map_ = std::move(map);
}

PageMap Engine::page_map() const {
  PageMap map = page_map_board_->take_and_ask();
  inbox_->ring();  // an idle engine draws too
  return map;
}

}  // namespace quire

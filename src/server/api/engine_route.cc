#include "server/api/engine_route.h"

#include "server/metrics/process_usage.h"

namespace quire::server {
namespace {

// [[owner, holders, n], ...]: n pages of the same state after one another.
Json runs_of(const std::vector<PageMap::Page>& pages) {
  Json runs = Json::array();
  for (size_t i = 0, end = 0; i < pages.size(); i = end) {
    const auto same = [&](const PageMap::Page& page) {
      return page.owner == pages[i].owner && page.holders == pages[i].holders;
    };
    while (end < pages.size() && same(pages[end])) ++end;
    runs.push_back({pages[i].owner, pages[i].holders, end - i});
  }
  return runs;
}

Json sequence_json(const PageMap::Owner& owner) {
  return {{"slot", owner.slot},
          {"number", owner.number},
          {"tenant", owner.tenant},
          {"positions", owner.positions},
          {"prompt_tokens", owner.prompt_tokens},
          {"cached_tokens", owner.reused_tokens}};
}

}  // namespace

ApiResult<Json> engine_state(const ApiCall& call) {
  const PageMap map = call.model.engine().page_map();
  Json groups = Json::array(), sequences = Json::array(), memory = Json::array();
  for (const PageMap::Group& group : map.groups)
    groups.push_back({{"window", group.window}, {"runs", runs_of(group.pages)}});
  for (const PageMap::Owner& owner : map.owners) sequences.push_back(sequence_json(owner));
  for (const PlanRow& row : call.model.memory().rows) {
    memory.push_back(
        {{"kind", row.kind}, {"place", row.place}, {"bytes", row.bytes}, {"detail", row.detail}});
  }
  return Json{{"pages", std::move(groups)},
              {"sequences", std::move(sequences)},
              {"memory", std::move(memory)},
              {"memory_bytes", call.model.memory().total_bytes()},
              {"resident_bytes", process_usage().resident_bytes}};
}

}  // namespace quire::server

// PageMap: whose each page of the pool is, as a picture of one moment; plain data.
//
// Engine::page_map() is for those who watch. The engine's thread draws it at the end of a step, and only
// after somebody has asked, so nobody watching costs nothing.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/request_table.h"
#include "memory/sequence_memory.h"

namespace quire {

inline constexpr int32_t kFreePage = -1, kCachedPage = -2;

struct PageMap {
  struct Page {
    int32_t owner = kFreePage;  // a running request's slot, the first of several; else one of the above
    int32_t holders = 0;        // more than 1: shared
  };
  struct Group {
    int32_t window = 0;  // of its layers; 0 = every position
    std::vector<Page> pages = {};
  };
  struct Owner {
    int32_t slot = 0, tenant = 0;
    uint64_t number = 0;  // of the request, in the order of arrival
    int64_t positions = 0, prompt_tokens = 0, reused_tokens = 0;
  };
  std::vector<Group> groups = {};
  std::vector<Owner> owners = {};  // by slot, the free ones left out
};

// Where the engine's thread leaves the map, and others find it.
class PageMapBoard {
 public:
  // Any thread: the latest map, and another will be drawn.
  PageMap take_and_ask();
  // The engine's thread, between steps.
  void draw_if_asked(const SequenceMemory& memory, RequestTable& table);

 private:
  std::mutex mutex_;
  bool asked_ = false;
  PageMap map_;
};

}  // namespace quire

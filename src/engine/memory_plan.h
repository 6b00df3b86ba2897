// MemoryPlan: every byte the engine will own, by kind and place, before any of it is allocated.
//
// Made by running the same planning code that allocates, dry. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire {

struct PlanRow {
  std::string kind;   // weights, kv, state, activations, logits, tables, scratch, answers
  std::string place;  // host, file
  size_t bytes = 0;
  std::string detail;
};

struct MemoryPlan {
  std::vector<PlanRow> rows;
  int64_t max_sequences = 0;
  int64_t max_context = 0;

  // Host bytes; file-mapped rows are listed, not summed.
  size_t total_bytes() const;
};

}  // namespace quire

// LiveRequest: what the request table keeps of one request, from its arrival to its end. Plain data, owned by
// whoever submitted it to the table.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/scheduler.h"
#include "memory/prefix_scope.h"
#include "memory/sequence_id.h"

namespace quire {

struct LiveRequest {
  // --- What is asked ---
  std::vector<int32_t> tokens;  // the prompt, then the answer as it comes; reserved for max_tokens
  int64_t n_prompt = 0;
  int64_t max_tokens = 0;  // of prompt and answer; the answer ends there
  int32_t tenant = 0;
  int32_t weight = 1;  // of the tenant
  Priority priority = Priority::kNormal;
  PrefixScope scope = {};
  RowUse rows = RowUse::kLast;  // kAll: takes nothing from shared prefixes
  EngineTime deadline = EngineTime::max();

  // --- What became of it; the table's ---
  enum class Place : uint8_t { kNowhere, kQueue, kSlot } place = Place::kNowhere;
  Claim claim;
  Reader reader = Reader::kKeepsUp;
  int32_t slot = -1;         // while running
  SequenceId sequence = {};  // while running or spilled
  int64_t n_reused = 0;      // of the prompt, found in memory when first let in
  int32_t n_admitted = 0;    // times let in; more than once after preemption
  int32_t n_preempted = 0;
  int64_t n_held = 0;  // positions in memory when it was last preempted
  EngineTime first_admitted{0};

  int64_t n_answer() const { return static_cast<int64_t>(tokens.size()) - n_prompt; }
};

}  // namespace quire

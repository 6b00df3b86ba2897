// TableDriver: drives a RequestTable over a dry memory, with steps that take a made-up time and answers that
// are made-up tokens. Checks in every step what must always hold.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "engine/request_table.h"

namespace quire::testing {

struct DriverConfig {
  RequestTableConfig table = {};
  int32_t n_pages = 64;
  int32_t n_spill_pages = 0;
  int64_t max_positions = 512;
  std::vector<int32_t> windows = {0};  // of the layers
  PrefixCache prefix_cache = PrefixCache::kOn;
  uint64_t (*prefix_hash)(const void* bytes, size_t n_bytes) = nullptr;  // null = the usual one
};

class TableDriver {
 public:
  explicit TableDriver(const DriverConfig& config)
      : config_(config), memory_(make_memory(config)), table_(memory_, config.table) {}

  // A request that answers `n_answer` tokens; it stays where it is for as long as the driver lives.
  LiveRequest& add(std::vector<int32_t> prompt, int64_t n_answer, int32_t tenant = 0,
                   Priority priority = Priority::kNormal) {
    LiveRequest& request = requests_.emplace_back();
    request.tokens = std::move(prompt);
    request.n_prompt = static_cast<int64_t>(request.tokens.size());
    request.max_tokens = request.n_prompt + n_answer;
    request.tenant = tenant;
    request.priority = priority;
    table_.add(request, now_);
    return request;
  }

  // One round of the engine. Returns how many rows ran.
  int64_t step() {
    table_.admit(now_);
    const BatchPlan& plan = table_.plan(now_);
    memory_.begin_step();
    int64_t n_tokens = 0;
    for (const PlannedRows& rows : plan.rows) {
      n_tokens += rows.n_tokens;
      const Status appended = memory_.append(table_.at(rows.slot).sequence, table_.tokens(rows));
      EXPECT_TRUE(appended.ok()) << (appended.ok() ? "" : appended.error().message);
    }
    memory_.commit_step();
    EXPECT_LE(n_tokens, config_.table.limits.max_batch_tokens);
    EXPECT_EQ(n_tokens, plan.n_streams + plan.n_prompt_tokens);
    if (plan.rows.empty()) return 0;
    completed_.clear();
    for (const PlannedRows& rows : plan.rows) {
      if (table_.completes(rows)) completed_.push_back(rows.slot);
    }
    now_ += std::chrono::milliseconds(10);
    table_.advance(plan, now_, 0.01);
    for (const int32_t slot : completed_) {
      LiveRequest& request = table_.at(slot);
      table_.push(slot, static_cast<int32_t>(request.tokens.size()) % 7);
      if (static_cast<int64_t>(request.tokens.size()) == request.max_tokens) remove(request);
    }
    return n_tokens;
  }

  void remove(LiveRequest& request) {
    EXPECT_NE(request.place, LiveRequest::Place::kNowhere) << "ended twice";
    table_.remove(request);
    ++n_ended_;
  }

  // Steps until nobody is left; fails after max_steps.
  void finish(int max_steps) {
    for (int i = 0; !table_.empty(); ++i) {
      ASSERT_LT(i, max_steps) << "somebody starves";
      step();
    }
  }

  SequenceMemory& memory() { return memory_; }
  RequestTable& table() { return table_; }
  std::deque<LiveRequest>& requests() { return requests_; }
  EngineTime now() const { return now_; }
  int64_t n_ended() const { return n_ended_; }

 private:
  static SequenceMemory make_memory(const DriverConfig& config) {
    LayerNeeds needs;
    for (const int32_t window : config.windows)
      needs.push_back(AttentionNeed{.n_head_kv = 1, .d_k = 16, .d_v = 16, .window = window});
    Result<SequenceMemory> memory =
        SequenceMemory::create({.needs = needs,
                                .n_pages = config.n_pages,
                                .n_spill_pages = config.n_spill_pages,
                                .max_sequences = config.table.max_sequences,
                                .max_positions = config.max_positions,
                                .max_step_tokens = config.table.limits.max_batch_tokens,
                                .prefix_cache = config.prefix_cache,
                                .prefix_hash = config.prefix_hash,
                                .allocation = Allocation::kDry});
    EXPECT_TRUE(memory.ok());
    return std::move(*memory);
  }

  DriverConfig config_;
  SequenceMemory memory_;
  RequestTable table_;
  std::deque<LiveRequest> requests_;
  std::vector<int32_t> completed_;
  EngineTime now_{0};
  int64_t n_ended_ = 0;
};

}  // namespace quire::testing

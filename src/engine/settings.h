// EngineSettings: everything a user can choose about how a model is run.
//
// Plain data, copied freely. Fields that change numbers (kv_type, activations, ctx through rope factors) are
// part of the model's fingerprint; the others change speed and memory only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "graph/cpu_device.h"

namespace quire {

inline constexpr uint64_t kAnySize = std::numeric_limits<uint64_t>::max();

struct EngineSettings {
  int64_t ctx = 0;                 // longest sequence in tokens; 0 = the model's own, at most kDefaultContext
  int32_t max_sequences = 1;       // open at the same time
  int64_t max_batch_tokens = 512;  // tokens of one step
  int64_t kv_pages = 0;            // pages that all sequences share; 0 = enough for each to be full
  uint64_t kv_budget = 0;          // bytes of those pages at most; 0 = any
  int64_t spill_pages = 0;         // of the area where preempted sequences wait; 0 = they are computed again
  uint64_t cache_budget = kAnySize;  // bytes of pages kept for later prompts while no sequence holds them
  // Of models with states: positions between the checkpoints that prompts can continue from, a multiple of
  // 16, and bytes of them at most.
  int64_t checkpoint_every = 256;
  uint64_t checkpoint_budget = uint64_t{256} << 20;
  int32_t max_draft = 0;    // newest tokens of a sequence that truncation always takes back exactly
  int64_t max_outputs = 0;  // rows of logits of one step; 0 = one per sequence
  // Rows of logits beside those, for prompts that are read (engine/prompt_reading.h); 0 = none can be.
  int64_t prompt_rows = 0;
  // Bytes that all requests together may take, from when they come until their answers are read
  // (AnswerMemory); 0 = any.
  uint64_t answer_bytes = 0;
  int threads = 0;  // 0 = one per physical core
  std::string isa = "auto";
  graph::KvType kv_type = graph::KvType::kF16;
  graph::ActivationSetting activations = graph::ActivationSetting::kInt8;
  std::vector<std::string> off = {};  // optimisations switched off, by name
  bool tap_hidden = false;            // keep hidden rows readable, for tests
};

inline constexpr int64_t kDefaultContext = 8192;

}  // namespace quire

// Request: what the engine is asked for, and Outcome: what came of it. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/finish_reason.h"
#include "engine/generation_settings.h"
#include "engine/prompt_reading.h"
#include "engine/scheduler.h"
#include "memory/prefix_scope.h"

namespace quire {

struct Request {
  std::vector<int32_t> prompt = {};
  // Stop strings are not the engine's: who turns tokens into text looks for them, and cancels.
  GenerationSettings settings = {};
  PromptReading reading = PromptReading::kNone;  // of the prompt, beside the answer
  int32_t tenant = 0;                            // below EngineOptions::n_tenants
  // 1..kMaxTenantWeight: of tenants that both wait, one of weight 3 is served thrice the tokens of one of 1.
  int32_t tenant_weight = 1;
  Priority priority = Priority::kNormal;
  PrefixScope scope = {};                                  // with whom keys and values may be shared
  std::optional<std::chrono::milliseconds> deadline = {};  // from submission to the end of the answer
  uint64_t tag = 0;                                        // the caller's own; observers see it
  // Called on the engine's thread after every new token and at the end; must return at once.
  std::function<void()> on_change = {};
};

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, whose keys and values were there already
  int64_t answer_tokens = 0;
  int32_t preemptions = 0;         // times it had to give its pages back and start again
  double queued_seconds = 0;       // until it was first let in
  double first_token_seconds = 0;  // since submission; 0 = there was none
  double total_seconds = 0;
};

struct Outcome {
  FinishReason reason = FinishReason::kStop;
  std::optional<Error> error = {};  // for kFailed
  Usage usage = {};
};

}  // namespace quire

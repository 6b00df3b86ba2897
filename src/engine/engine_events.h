// EngineEvents: hears what an engine does, on the engine's thread, which waits meanwhile. Plain data comes
// in; times are those of the machine's steady clock.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/finish_reason.h"
#include "engine/request.h"

namespace quire {

using EngineClock = std::chrono::steady_clock;

// A step that was run, sampling included.
struct StepEvent {
  EngineClock::time_point begin, end;
  int64_t stream_rows = 0, prompt_tokens = 0;
  int32_t running = 0, queued = 0;  // requests
};

// A request that has ended.
struct RequestEvent {
  uint64_t number = 0;  // in the order of arrival, from 1
  EngineClock::time_point arrived, ended;
  FinishReason reason = FinishReason::kStop;
  Usage usage = {};
};

class EngineEvents {
 public:
  virtual ~EngineEvents() = default;
  virtual void on_step(const StepEvent& step) = 0;
  virtual void on_request_ended(const RequestEvent& request) = 0;
};

}  // namespace quire

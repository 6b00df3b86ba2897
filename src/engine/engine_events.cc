#include "engine/engine_events.h"

#include "engine/engine_job.h"

namespace quire {

void Engine::tell_step(const BatchPlan& plan, EngineTime end) const {
  if (options_.events == nullptr) return;
  options_.events->on_step({.begin = start_ + step_start_,
                            .end = start_ + end,
                            .stream_rows = plan.n_streams,
                            .prompt_tokens = plan.n_prompt_tokens,
                            .running = table_->n_running(),
                            .queued = table_->n_queued()});
}

void Engine::tell_end(const Job& job, const Outcome& outcome) const {
  if (options_.events == nullptr) return;
  options_.events->on_request_ended({.number = job.claim.number,
                                     .arrived = start_ + job.claim.arrived,
                                     .ended = EngineClock::now(),
                                     .reason = outcome.reason,
                                     .usage = outcome.usage});
}

}  // namespace quire

// EngineTrace: an engine's steps, the phases of the model inside them, and its requests, into a TraceFile.
//
// Given to EngineOptions::events and Runner::set_profiler(). Must outlive both; borrows the file and the
// program. Everything but the constructor runs on the engine's thread. A phase's name is made when it first
// runs; after a few steps nothing is allocated.
#pragma once

#include <vector>

#include "base/trace_file.h"
#include "engine/engine_events.h"
#include "graph/profiler.h"
#include "graph/program.h"

namespace quire {

class EngineTrace final : public EngineEvents, public graph::Profiler {
 public:
  EngineTrace(TraceFile& file, const graph::Program& program);

  void on_step(const StepEvent& step) override;
  void on_request_ended(const RequestEvent& request) override;
  void on_phase(const graph::Phase& phase, std::chrono::nanoseconds elapsed) override;

 private:
  TraceFile& file_;
  const graph::Program& program_;
  const int32_t step_, request_, queued_, prompt_, answer_;  // kinds
  std::vector<int32_t> phases_;  // kinds, by a phase's first op; -1 = not seen yet
};

}  // namespace quire

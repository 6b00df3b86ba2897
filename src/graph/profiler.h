// Profiler: hears how long each phase of a step took; for measurements only.
//
// An executor without one reads no clock. Called on the thread that runs the step, between phases, so what it
// does is in no phase's time.
#pragma once

#include <chrono>

#include "graph/schedule.h"

namespace quire::graph {

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual void on_phase(const Phase& phase, std::chrono::nanoseconds elapsed) = 0;
};

}  // namespace quire::graph

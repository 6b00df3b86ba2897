// Simulation: a trace through the real request table, scheduler and memory, with steps that take a modelled
// time.
#pragma once

#include <array>
#include <cstdint>

#include "engine/request_table.h"
#include "histogram.h"
#include "traces.h"

namespace quire::simulator {

struct SimulationConfig {
  RequestTableConfig table = {};
  int32_t n_pages = 4096;
  int32_t n_spill_pages = 0;
  int64_t max_positions = 8192;
  StepCost cost = {};  // what a step takes
};

struct SimulationResult {
  double seconds = 0;  // of simulated time
  int64_t ended = 0, cancelled = 0, refused = 0;
  int64_t answer_tokens = 0;
  Histogram first_token, gap;  // from arrival; between tokens of a stream
  std::array<Histogram, kTenants> tenant_first_token;
  int64_t positions_shared = 0;
  ScheduleCounters counters;
};

SimulationResult simulate(const TraceKind& trace, int64_t n_requests, const SimulationConfig& config);

}  // namespace quire::simulator

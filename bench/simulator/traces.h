// Traces: who asks for what, and when. Made from a seed; plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/scheduler.h"

namespace quire::simulator {

struct Arrival {
  EngineTime at{0};
  int32_t n_prompt = 0, n_answer = 0;
  int32_t n_shared = 0;  // first tokens of the prompt, equal in all arrivals with the same `prefix`
  int32_t prefix = 0;
  int32_t tenant = 0;
  int32_t cancel_after = -1;  // tokens of answer; -1 = stays
};

struct TraceKind {
  std::string name;
  std::string about;
  // The next arrival, given how many came before.
  std::function<Arrival(int64_t index)> next;
};

inline constexpr int32_t kTenants = 4;

// All kinds; `rate` requests per second where arrivals are random.
std::vector<TraceKind> trace_kinds(double rate);

}  // namespace quire::simulator

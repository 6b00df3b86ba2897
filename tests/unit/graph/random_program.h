// Random programs for tests of passes and planning: legal, of every shape, never executed.
#pragma once

#include <cstdint>

#include "graph/program.h"
#include "unit/graph/memory_source.h"

namespace quire::graph::testing {

// The tensors random programs use.
void add_random_program_tensors(MemorySource& source);

// A program of about n_ops ops whose inputs are chosen at random among earlier values, with views, taps,
// quantised and f32 linear layers, experts, attention, and a part on output rows.
Program random_program(const MemorySource& source, uint32_t seed, int n_ops);

}  // namespace quire::graph::testing

// MachineLimits: what this machine can do at most right now: memory bandwidth and the peak of the two
// instructions that linear layers are made of.
//
// Measured with all threads of a pool, so that a speed can be set beside what was possible in the same run.
// Other programs on the machine lower it. Takes about half a second.
#pragma once

#include "base/result.h"
#include "base/thread_pool.h"
#include "kernels/isa.h"

namespace quire {

struct MachineLimits {
  double read_gbps = 0;  // reading memory in order, 10^9 bytes per second
  double dot_gops = 0;   // int8 dot products, 10^9 operations per second, a multiply-add being two
  double fma_gops = 0;   // f32 multiply-adds, the same
};

// The best of several rounds each. Reads a buffer of 1 GiB, or of a quarter of the available memory where
// that is less, in huge pages where the system gives them. Errors: kResourceExhausted (no memory for the
// buffer).
Result<MachineLimits> measure_limits(ThreadPool& pool, Isa isa);

}  // namespace quire

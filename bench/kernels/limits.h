// What this machine can do right now: probes short enough to run around every cell, and the memory and
// threads that cells share. Used by one thread at a time.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>

#include "base/memory_region.h"
#include "base/thread_pool.h"
#include "kernels/isa.h"

namespace quire::bench {

// Threads of the machine, at least 2.
int many_threads();
// The pool of one or many_threads() threads.
ThreadPool& pool_of(int n_threads);

// Memory much larger than the caches, faulted in, the same for all cells; aborts when there is none.
const MemoryRegion& large_memory();
// `bytes` of large_memory() that were not read for as long as possible.
std::byte* next_window(size_t bytes);

// Giga-operations per second of integer dot products and of f32 multiply-adds, and GB/s of reading large
// memory.
struct Limits {
  double dot_gops, fma_gops, read_gbps;
};
Limits probe_limits(Isa isa, int n_threads);

// Adds the counters of kernel_bench.cc to `state`, given what one iteration did and the probes around them.
enum class Arithmetic { kDots, kMultiplyAdds };
struct CellWork {
  double ops, bytes;
  Arithmetic arithmetic = Arithmetic::kDots;
};
void report(benchmark::State& state, const CellWork& work, const Limits& before, const Limits& after);

}  // namespace quire::bench

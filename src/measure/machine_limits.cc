#include "measure/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/function_ref.h"
#include "base/memory_region.h"
#include "kernels/probe.h"
#include "measure/available_memory.h"

namespace quire {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;
constexpr int kTilesPerThread = 16;  // so that a thread which loses its core delays one tile and not its half

double seconds_of(FunctionRef<void()> work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Operations per second of `rounds_fn`, which is asked for about a millisecond at a time.
double peak(ThreadPool& pool, int64_t (*rounds_fn)(int64_t)) {
  int64_t rounds = 1000;
  while (seconds_of([&] { rounds_fn(rounds); }) < 1e-3) rounds *= 2;
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::atomic<int64_t> operations{0};
    const double seconds = seconds_of([&] {
      pool.run(int64_t{kTilesPerThread} * pool.size(),
               [&](int64_t, int) { operations.fetch_add(rounds_fn(rounds), std::memory_order_relaxed); });
    });
    best = std::max(best, static_cast<double>(operations.load()) / seconds);
  }
  return best;
}

Result<double> read_bandwidth(ThreadPool& pool, uint32_t (*read)(const std::byte*, size_t)) {
  constexpr size_t kTile = size_t{4} << 20;
  QUIRE_ASSIGN_OR_RETURN(const uint64_t available, available_memory());
  const size_t n_tiles = std::clamp<size_t>(available / 4 / kTile, 1, (size_t{1} << 30) / kTile);
  QUIRE_ASSIGN_OR_RETURN(const MemoryRegion buffer, MemoryRegion::allocate(n_tiles * kTile));
  const auto tiles = static_cast<int64_t>(n_tiles);
  pool.run(tiles, [&](int64_t tile, int) { buffer.fault_in(static_cast<size_t>(tile) * kTile, kTile); });
  std::atomic<uint32_t> sink{0};
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    const double seconds = seconds_of([&] {
      pool.run(tiles, [&](int64_t tile, int) {
        sink.fetch_xor(read(buffer.data() + static_cast<size_t>(tile) * kTile, kTile),
                       std::memory_order_relaxed);
      });
    });
    best = std::max(best, static_cast<double>(buffer.size()) / seconds);
  }
  return best;
}

}  // namespace

Result<MachineLimits> measure_limits(ThreadPool& pool, Isa isa) {
  const kernels::ProbeOps probes = kernels::probe_ops(isa);
  QUIRE_ASSIGN_OR_RETURN(const double bandwidth, read_bandwidth(pool, probes.read));
  return MachineLimits{.read_gbps = bandwidth / 1e9,
                       .dot_gops = peak(pool, probes.dot_rounds) / 1e9,
                       .fma_gops = peak(pool, probes.fma_rounds) / 1e9};
}

}  // namespace quire

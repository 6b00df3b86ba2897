#include "limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/check.h"
#include "kernels/probe.h"

namespace quire::bench {
namespace {

constexpr size_t kLargeBytes = size_t{512} << 20;
constexpr int kProbeRounds = 3;

// Shortest of a few times, in seconds.
template <typename Work>
double best_seconds(Work work) {
  double best = 1e9;
  for (int i = 0; i < kProbeRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int many_threads() { return std::max(2, static_cast<int>(std::thread::hardware_concurrency())); }

ThreadPool& pool_of(int n_threads) {
  static ThreadPool one(1);
  static ThreadPool many(many_threads());
  return n_threads == 1 ? one : many;
}

const MemoryRegion& large_memory() {
  static const MemoryRegion memory = [] {
    Result<MemoryRegion> region = MemoryRegion::allocate(kLargeBytes);
    QUIRE_CHECK(region.ok());
    region.value().fault_in(0, kLargeBytes);
    return std::move(region.value());
  }();
  return memory;
}

std::byte* next_window(size_t bytes) {
  static size_t next = 0;
  QUIRE_CHECK(bytes <= kLargeBytes);
  if (next + bytes > kLargeBytes) next = 0;
  std::byte* window = large_memory().data() + next;
  next += (bytes + 4095) / 4096 * 4096;
  return window;
}

Limits probe_limits(Isa isa, int n_threads) {
  constexpr int64_t kTilesPerThread = 4;
  const kernels::ProbeOps probes = kernels::probe_ops(isa);
  ThreadPool& pool = pool_of(n_threads);
  const int64_t rounds = isa == Isa::kScalar ? 500 : 10000;
  const auto gops = [&](int64_t (*probe)(int64_t)) {
    std::atomic<int64_t> ops{0};
    const double seconds = best_seconds([&] {
      ops = 0;
      pool.run(kTilesPerThread * n_threads, [&](int64_t, int) { ops += probe(rounds); });
    });
    return static_cast<double>(ops.load()) / seconds / 1e9;
  };
  constexpr size_t kTile = size_t{1} << 20;
  constexpr int64_t kTiles = 32;
  std::atomic<uint32_t> sink{0};
  const double read = best_seconds([&] {
    const std::byte* window = next_window(kTile * kTiles);
    pool.run(kTiles, [&](int64_t tile, int) {
      sink ^= probes.read(window + static_cast<size_t>(tile) * kTile, kTile);
    });
  });
  return {.dot_gops = gops(probes.dot_rounds),
          .fma_gops = gops(probes.fma_rounds),
          .read_gbps = static_cast<double>(kTile * kTiles) / read / 1e9};
}

void report(benchmark::State& state, const CellWork& work, const Limits& before, const Limits& after) {
  using benchmark::Counter;
  const auto rate = [&](double amount) {
    return Counter(amount, Counter::kIsIterationInvariantRate, Counter::kIs1000);
  };
  const Limits limits = {.dot_gops = std::max(before.dot_gops, after.dot_gops),
                         .fma_gops = std::max(before.fma_gops, after.fma_gops),
                         .read_gbps = std::max(before.read_gbps, after.read_gbps)};
  state.counters["GOPS"] = rate(work.ops / 1e9);
  state.counters["GBps"] = rate(work.bytes / 1e9);
  const bool dots = work.arithmetic == Arithmetic::kDots;
  state.counters[dots ? "dot" : "fma"] = rate(work.ops / 1e9 / (dots ? limits.dot_gops : limits.fma_gops));
  state.counters["read"] = rate(work.bytes / 1e9 / limits.read_gbps);
  state.counters["moved"] = std::max(std::fabs(before.dot_gops - after.dot_gops) / limits.dot_gops,
                                     std::fabs(before.read_gbps - after.read_gbps) / limits.read_gbps);
}

}  // namespace quire::bench

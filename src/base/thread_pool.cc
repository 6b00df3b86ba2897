#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/event_count.h"

namespace quire {
namespace {

constexpr std::chrono::microseconds kSpin{50};
constexpr int64_t kMaxChunk = 8;  // tiles lost to a thread that is scheduled away
constexpr int64_t kChunksPerThread =
    8;  // while this many remain for everyone, a chunk may hold several tiles
constexpr size_t kCacheLine = 64;
constexpr int kMaxThreads = 4096;

using TileFunction = FunctionRef<void(int64_t, int)>;

struct Job {
  TileFunction fn;
  int64_t n_tiles;
};

}  // namespace

// `unclaimed` is the whole hand-out protocol: a thread that lowers it owns the tiles it took, and the job
// cannot change before it has reported them in `unfinished`. So the job is read only after a claim, and a
// worker that wakes late finds 0 and touches nothing: run() never waits for threads that took no tile.
struct ThreadPool::State {
  alignas(kCacheLine) std::atomic<int64_t> unclaimed{0};
  alignas(kCacheLine) std::atomic<int64_t> unfinished{0};
  alignas(kCacheLine) const Job* job = nullptr;
  std::atomic<int64_t> max_chunk{1};  // read before a claim: who is late may see the next job's
  EventCount work;                    // workers wait for tiles or for the end
  EventCount finished;                // the caller waits for the last tile
  std::atomic<bool> stopping{false};
  std::vector<std::thread> workers;

  int workers_planned = 0;

  int64_t chunk_size(int64_t remaining) const {
    const int64_t threads = static_cast<int64_t>(workers_planned) + 1;
    return std::clamp<int64_t>(remaining / (threads * kChunksPerThread), 1, max_chunk.load());
  }

  // Takes and runs tiles until none is left to take.
  void drain(int thread) {
    int64_t remaining = unclaimed.load();
    while (remaining > 0) {
      const int64_t taken = chunk_size(remaining);
      if (!unclaimed.compare_exchange_weak(remaining, remaining - taken)) continue;
      const Job& current = *job;
      const int64_t first = current.n_tiles - remaining;
      for (int64_t tile = first; tile < first + taken; ++tile) current.fn(tile, thread);
      if (unfinished.fetch_sub(taken) == taken) finished.notify_all();
      remaining = unclaimed.load();
    }
  }

  void worker_main(int thread) noexcept {
    set_numerics_environment();
    for (;;) {
      work.await([this] { return unclaimed.load() > 0 || stopping.load(); }, kSpin);
      if (stopping.load()) return;
      drain(thread);
    }
  }

  // False when the operating system gives no more threads; those already started are joined by stop().
  bool start(int n_workers) {
    workers_planned = n_workers;
    workers.reserve(static_cast<size_t>(n_workers));
    try {
      for (int i = 1; i <= n_workers; ++i) {
        workers.emplace_back([this, i] { worker_main(i); });
        pthread_setname_np(workers.back().native_handle(), fmt::format("quire-{}", i).c_str());
      }
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void stop() {
    stopping.store(true);
    work.notify_all();
    for (std::thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(std::unique_ptr<State> state)
    : n_threads_(state->workers_planned + 1), state_(std::move(state)) {}

ThreadPool::ThreadPool(int n_threads) : n_threads_(n_threads), state_(std::make_unique<State>()) {
  QUIRE_CHECK(n_threads >= 1 && n_threads <= kMaxThreads);
  const bool started = state_->start(n_threads - 1);
  QUIRE_CHECK(started);
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int n_threads) {
  if (n_threads < 1 || n_threads > kMaxThreads) {
    return make_error(ErrorCode::kInvalidArgument, "threads: {} given, expected 1 to {}", n_threads,
                      kMaxThreads);
  }
  auto state = std::make_unique<State>();
  if (!state->start(n_threads - 1)) {
    state->stop();
    return make_error(ErrorCode::kResourceExhausted, "threads: the system refused to start {} of them",
                      n_threads);
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(state)));
}

ThreadPool::~ThreadPool() { state_->stop(); }

void ThreadPool::run(int64_t n_tiles, FunctionRef<void(int64_t, int)> fn, HandOut hand_out) {
  if (n_tiles <= 0) return;
  const NumericsScope numerics;
  if (n_threads_ == 1 || n_tiles == 1) {
    for (int64_t tile = 0; tile < n_tiles; ++tile) fn(tile, 0);
    return;
  }
  State& state = *state_;
  QUIRE_CHECK(state.unfinished.load() == 0);  // a nested or concurrent run()
  const Job job{fn, n_tiles};
  state.job = &job;
  state.max_chunk.store(hand_out == HandOut::kSingly ? 1 : kMaxChunk);
  state.unfinished.store(n_tiles);
  state.unclaimed.store(n_tiles);
  state.work.notify_all();
  state.drain(0);
  state.finished.await([&state] { return state.unfinished.load() == 0; }, kSpin);
}

}  // namespace quire

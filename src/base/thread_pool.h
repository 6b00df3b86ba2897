// ThreadPool: runs a function over numbered tiles on a fixed set of threads.
//
// The calling thread is thread 0 and works too. Tiles are handed out by an atomic counter in small chunks, so a
// thread that loses its core delays one chunk and not half of the work. Workers spin for a bounded time between
// runs (about 50 us) and then sleep. Every thread, the caller included while inside run(), has the numerics
// environment of docs/numerics.md: round to nearest, denormals kept (FTZ and DAZ off).
// One run at a time; run() may be called from one thread only at a time. Functions must not throw.
#pragma once

#include <cstdint>
#include <memory>

#include "base/function_ref.h"

namespace quire {

class ThreadPool {
 public:
  // n_threads >= 1 counts the caller: n_threads - 1 workers are started. Threads are named "quire-N".
  explicit ThreadPool(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Calls fn(tile, thread) once for every tile in [0, n_tiles) and returns when all are done; everything written
  // by the calls is visible afterwards. `thread` in [0, size()) identifies per-thread scratch.
  void run(int64_t n_tiles, FunctionRef<void(int64_t tile, int thread)> fn);

 private:
  struct State;
  int n_threads_;
  std::unique_ptr<State> state_;
};

// Sets round-to-nearest and keeps denormals on the calling thread (x86: MXCSR). Idempotent.
void set_numerics_environment();

}  // namespace quire

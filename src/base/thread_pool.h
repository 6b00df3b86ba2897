// ThreadPool: runs a function over numbered tiles on a fixed set of threads.
//
// The calling thread is thread 0 and works too. Tiles are handed out by an atomic counter in small chunks, so
// a thread that loses its core delays one chunk and not half of the work. Workers spin for a bounded time
// between runs (about 50 us) and then sleep. Every thread, the caller included while inside run(), has the
// numerics environment of docs/numerics.md: round to nearest, denormals kept (FTZ and DAZ off). One run at a
// time; run() may be called from one thread only at a time. Functions must not throw.
#pragma once

#include <cstdint>
#include <memory>

#include "base/function_ref.h"
#include "base/numerics_environment.h"
#include "base/result.h"

namespace quire {

// Singly: for long tiles of unequal length, the longest first.
enum class HandOut : uint8_t { kInChunks, kSingly };

class ThreadPool {
 public:
  // n_threads in [1, 4096] counts the caller: n_threads - 1 workers are started. Threads are named "quire-N".
  // Aborts when the system gives no more threads; use create() where the number comes from outside.
  explicit ThreadPool(int n_threads);
  // The same with errors: kInvalidArgument (number out of range), kResourceExhausted (no more threads to be
  // had).
  static Result<std::unique_ptr<ThreadPool>> create(int n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return n_threads_; }

  // Calls fn(tile, thread) once for every tile in [0, n_tiles) and returns when all are done; everything
  // written by the calls is visible afterwards. `thread` in [0, size()) identifies per-thread scratch.
  void run(int64_t n_tiles, FunctionRef<void(int64_t tile, int thread)> fn,
           HandOut hand_out = HandOut::kInChunks);

 private:
  struct State;
  explicit ThreadPool(std::unique_ptr<State> state);
  int n_threads_;
  std::unique_ptr<State> state_;
};

}  // namespace quire

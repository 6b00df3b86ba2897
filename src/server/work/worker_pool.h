// WorkerPool: threads for what requests need beside the model: JSON, templates, tokenizing, text.
//
// A Task is scheduled by whoever has news for it and then runs once on some worker; scheduled again while it
// waits it still runs once, while it runs it runs once more after. So one task is never on two threads, and
// schedule() neither blocks for long nor allocates: the engine's thread may call it.
//
//   WorkerPool pool(2);
//   pool.schedule(task);          // std::shared_ptr<Task>
//   pool.post([] { ... });        // something that runs once
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace quire::server {

class Task {
 public:
  virtual ~Task() = default;
  virtual void run() = 0;

 private:
  friend class WorkerPool;
  enum class State : uint8_t { kIdle, kQueued, kRunning, kRunningAgain };
  std::atomic<State> state_{State::kIdle};
  std::shared_ptr<Task> next_;  // in the queue
};

class WorkerPool {
 public:
  explicit WorkerPool(int n_threads);
  // Finishes what is queued.
  ~WorkerPool();

  void schedule(std::shared_ptr<Task> task);
  void post(std::function<void()> work);

 private:
  void work();
  void push(std::shared_ptr<Task> task);
  std::shared_ptr<Task> pop();  // waits; null when the pool ends

  std::mutex mutex_;
  std::condition_variable pushed_;
  std::shared_ptr<Task> first_;
  Task* last_ = nullptr;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace quire::server

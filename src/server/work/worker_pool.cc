#include "server/work/worker_pool.h"

#include <pthread.h>

#include <utility>

namespace quire::server {
namespace {

class PostedWork final : public Task {
 public:
  explicit PostedWork(std::function<void()> work) : work_(std::move(work)) {}
  void run() override { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace

WorkerPool::WorkerPool(int n_threads) {
  for (int i = 0; i < n_threads; ++i) {
    threads_.emplace_back([this] { work(); });
    ::pthread_setname_np(threads_.back().native_handle(), "quire-worker");
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  pushed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::post(std::function<void()> work) { schedule(std::make_shared<PostedWork>(std::move(work))); }

void WorkerPool::schedule(std::shared_ptr<Task> task) {
  Task::State state = task->state_.load();
  for (;;) {
    Task::State next = state;
    if (state == Task::State::kIdle) next = Task::State::kQueued;
    if (state == Task::State::kRunning) next = Task::State::kRunningAgain;
    if (next == state) return;
    if (!task->state_.compare_exchange_weak(state, next)) continue;
    if (next == Task::State::kQueued) push(std::move(task));
    return;
  }
}

void WorkerPool::push(std::shared_ptr<Task> task) {
  {
    const std::lock_guard lock(mutex_);
    Task* const raw = task.get();
    (last_ == nullptr ? first_ : last_->next_) = std::move(task);
    last_ = raw;
  }
  pushed_.notify_one();
}

std::shared_ptr<Task> WorkerPool::pop() {
  std::unique_lock lock(mutex_);
  pushed_.wait(lock, [&] { return first_ != nullptr || ending_; });
  if (first_ == nullptr) return nullptr;
  std::shared_ptr<Task> task = std::move(first_);
  first_ = std::move(task->next_);
  if (first_ == nullptr) last_ = nullptr;
  return task;
}

void WorkerPool::work() {
  while (const std::shared_ptr<Task> task = pop()) {
    task->state_ = Task::State::kRunning;
    task->run();
    Task::State running = Task::State::kRunning;
    if (task->state_.compare_exchange_strong(running, Task::State::kIdle)) continue;
    task->state_ = Task::State::kQueued;
    push(task);
  }
}

}  // namespace quire::server

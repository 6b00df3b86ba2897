#include "server/work/worker_pool.h"

#include <gtest/gtest.h>

namespace quire::server {
namespace {

class Counting final : public Task {
 public:
  void run() override {
    EXPECT_EQ(inside_.fetch_add(1), 0);
    seen_ = asked_.load();
    ++n_runs_;
    inside_.fetch_sub(1);
  }
  std::atomic<int> asked_{0}, seen_{0}, n_runs_{0}, inside_{0};
};

TEST(WorkerPool, ATaskRunsOnOneThreadAndSeesEveryCall) {
  const auto task = std::make_shared<Counting>();
  {
    WorkerPool pool(3);
    std::vector<std::thread> callers;
    for (int t = 0; t < 3; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          ++task->asked_;
          pool.schedule(task);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(task->seen_, 6000);
  EXPECT_LE(task->n_runs_, 6000);
}

TEST(WorkerPool, FinishesWhatIsQueued) {
  std::atomic<int> n = 0;
  {
    WorkerPool pool(2);
    for (int i = 0; i < 100; ++i) pool.post([&] { ++n; });
  }
  EXPECT_EQ(n, 100);
}

}  // namespace
}  // namespace quire::server

#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace quire {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolTest, CallsEachTileOnceWithAThreadNumberInRange) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (const int64_t n_tiles : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> calls(static_cast<size_t>(n_tiles), 0);  // plain ints: a tile has one thread only
    std::atomic<bool> in_range{true};
    pool.run(n_tiles, [&](int64_t tile, int thread) {
      ++calls[static_cast<size_t>(tile)];
      if (thread < 0 || thread >= pool.size()) in_range = false;
    });
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(n_tiles), 1)) << n_tiles;
    EXPECT_TRUE(in_range);
  }
}

TEST_P(ThreadPoolTest, ThreadNumbersIdentifyScratch) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> scratch(static_cast<size_t>(pool.size()), 0);  // not atomic: one thread per number
  int64_t expected = 0;
  for (int run = 0; run < 50; ++run) {
    pool.run(100, [&](int64_t tile, int thread) { scratch[static_cast<size_t>(thread)] += tile; });
    expected += 99 * 100 / 2;
  }
  int64_t sum = 0;
  for (const int64_t s : scratch) sum += s;
  EXPECT_EQ(sum, expected);
}

// Each run reads what the one before wrote, on whatever thread: run() is a barrier for memory.
TEST_P(ThreadPoolTest, WritesAreVisibleToTheNextRun) {
  ThreadPool pool(GetParam());
  constexpr int64_t kTiles = 16;
  std::vector<int64_t> now(kTiles, 1);
  std::vector<int64_t> next(kTiles, 0);
  for (int step = 0; step < 2000; ++step) {
    pool.run(kTiles, [&](int64_t tile, int) {
      const auto t = static_cast<size_t>(tile);
      next[t] = now[(t + 1) % kTiles] + 1;
    });
    std::swap(now, next);
  }
  EXPECT_EQ(now, std::vector<int64_t>(kTiles, 2001));
}

// Pauses longer than the spin time put the workers to sleep between runs.
TEST_P(ThreadPoolTest, WorkersComeBackFromSleep) {
  ThreadPool pool(GetParam());
  for (int run = 0; run < 20; ++run) {
    std::this_thread::sleep_for(std::chrono::microseconds(run % 2 == 0 ? 1000 : 60));
    std::atomic<int64_t> sum{0};
    pool.run(10, [&](int64_t tile, int) { sum += tile; });
    EXPECT_EQ(sum.load(), 45);
  }
}

TEST_P(ThreadPoolTest, EveryThreadHasTheNumericsEnvironmentAndTheCallerGetsItsOwnBack) {
  ThreadPool pool(GetParam());
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  std::atomic<bool> nearest{true};
  std::atomic<bool> denormals{true};
  pool.run(64, [&](int64_t, int) {
    volatile float tiny = std::numeric_limits<float>::min();
    tiny = tiny / 2.0f;
    if (tiny == 0.0f) denormals = false;
    // Arithmetic, not fegetround(): on x86 that one reads the x87 control word.
    volatile float one = 1.0f;
    one = one + 0x1p-30f;
    if (one != 1.0f) nearest = false;
    std::this_thread::yield();
  });
  EXPECT_TRUE(nearest);
  EXPECT_TRUE(denormals);
  volatile float one = 1.0f;
  one = one + 0x1p-30f;
  EXPECT_GT(one, 1.0f);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
}

TEST(ThreadPool, SeveralThreadsReallyWork) {
  ThreadPool pool(3);
  std::atomic<int> arrived{0};
  // Every tile waits until all three threads are inside one: impossible with fewer.
  pool.run(3, [&](int64_t, int) {
    ++arrived;
    while (arrived.load() < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 3);
}

TEST(ThreadPool, OneSlowTileDoesNotHoldTheOthers) {
  ThreadPool pool(2);
  constexpr int64_t kTiles = 200;
  std::atomic<int64_t> done{0};
  pool.run(kTiles, [&](int64_t tile, int) {
    if (tile == 0) {
      // At most the rest of this chunk (7 tiles) can be waiting behind it.
      while (done.load() < kTiles - 8) std::this_thread::yield();
    }
    ++done;
  });
  EXPECT_EQ(done.load(), kTiles);
}

TEST(ThreadPool, ThreadZeroIsTheCallerAndWorkersAreNamed) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> arrived{0};
  std::atomic<bool> caller_is_zero{true};
  std::string worker_name;
  pool.run(2, [&](int64_t, int thread) {
    if ((std::this_thread::get_id() == caller) != (thread == 0)) caller_is_zero = false;
    if (thread == 1) {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      worker_name = name;
    }
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_TRUE(caller_is_zero);
  EXPECT_EQ(worker_name, "quire-1");
}

TEST(ThreadPool, PoolsAreIndependent) {
  ThreadPool outer(2);
  std::atomic<int64_t> sum{0};
  outer.run(4, [&](int64_t, int) {
    ThreadPool inner(2);
    inner.run(10, [&](int64_t tile, int) { sum += tile; });
  });
  EXPECT_EQ(sum.load(), 4 * 45);
}

TEST(ThreadPool, CreateReportsNumbersOutOfRange) {
  for (const int n : {0, -1, 1000000}) {
    const auto pool = ThreadPool::create(n);
    ASSERT_FALSE(pool.ok()) << n;
    EXPECT_EQ(pool.error().code, ErrorCode::kInvalidArgument);
  }
  const auto pool = ThreadPool::create(2);
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ((*pool)->size(), 2);
}

TEST(ThreadPoolDeathTest, NestedRunsAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPool pool(2);
        pool.run(8, [&](int64_t, int) { pool.run(8, [](int64_t, int) {}); });
      },
      "check failed");
}

}  // namespace
}  // namespace quire

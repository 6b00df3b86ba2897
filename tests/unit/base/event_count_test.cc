#include "base/event_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace quire {
namespace {

using std::chrono::microseconds;

TEST(EventCount, TrueConditionReturnsAtOnce) {
  EventCount events;
  events.await([] { return true; }, microseconds(0));
  events.notify_all();
}

// Two threads hand a number back and forth; one lost wake-up would hang the test.
TEST(EventCount, NoWakeUpIsLost) {
  for (const microseconds spin : {microseconds(0), microseconds(5)}) {
    constexpr int kTurns = 5000;
    EventCount events;
    std::atomic<int> turn{0};
    const auto play = [&](int parity) {
      for (int i = parity; i < kTurns; i += 2) {
        events.await([&] { return turn.load() == i; }, spin);
        turn.store(i + 1);
        events.notify_all();
      }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
    EXPECT_EQ(turn.load(), kTurns);
  }
}

TEST(EventCount, WakesEverySleeper) {
  EventCount events;
  std::atomic<bool> open{false};
  std::atomic<int> passed{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.emplace_back([&] {
      events.await([&] { return open.load(); }, microseconds(0));
      ++passed;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(passed.load(), 0);
  open.store(true);
  events.notify_all();
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(passed.load(), 4);
}

}  // namespace
}  // namespace quire

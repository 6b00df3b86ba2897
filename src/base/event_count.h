// EventCount: lets threads wait for a condition on atomics, spinning first and sleeping after.
//
// The condition lives outside; it must be made true by a sequentially consistent write and read by
// sequentially consistent loads. Then either the waiter sees the condition, or the notifier sees the waiter:
// no wake-up is lost, and notifying costs one load while nobody sleeps. Any number of waiters and notifiers.
//
//   waiter:    events.await([&] { return ready.load(); });
//   notifier:  ready.store(true); events.notify_all();
#pragma once

#include <atomic>
#include <chrono>

#include "base/cpu_pause.h"

namespace quire {

class EventCount {
 public:
  // Returns once `condition()` is true. Spins for about `spin` before the first sleep.
  template <typename Condition>
  void await(Condition condition, std::chrono::microseconds spin) {
    if (condition()) return;
    constexpr int kPausesPerClockRead =
        32;  // a clock read costs about as much as a pause, or far more in a VM
    const auto deadline = std::chrono::steady_clock::now() + spin;
    do {
      for (int i = 0; i < kPausesPerClockRead; ++i) {
        if (condition()) return;
        cpu_pause();
      }
    } while (std::chrono::steady_clock::now() < deadline);

    for (;;) {
      // The epoch is read before the sleeper is announced: a notification after that changes it, and wait()
      // then returns at once.
      const int seen = epoch_.load();
      sleepers_.fetch_add(1);
      const bool ready = condition();
      if (!ready) epoch_.wait(seen);
      sleepers_.fetch_sub(1);
      if (ready || condition()) return;
    }
  }

  // Wakes every sleeper to look at its condition again.
  void notify_all() {
    if (sleepers_.load() == 0) return;
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

 private:
  std::atomic<int> epoch_{0};  // int is what the kernel waits on directly
  std::atomic<int> sleepers_{0};
};

}  // namespace quire

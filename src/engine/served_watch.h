// What ServedBench sees of its engine's steps: when requests got their first token, how many tokens came
// after that, and how long streams waited between theirs. Internal to served_bench.cc and served_mixed.cc.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/served_bench.h"

namespace quire {

class ServedBench::Watch final : public LogitsObserver {
 public:
  using Clock = std::chrono::steady_clock;
  // Requests with this tag belong to a test; streams have tags above it.
  static constexpr uint64_t kRequest = 0;

  explicit Watch(const SequenceMemory& memory) : memory_(memory) {}

  // Waits for the first tokens of so many requests, and lets none get its own while the lock lives: handed in
  // meanwhile, they arrive together however long that takes.
  std::unique_lock<std::mutex> begin(int64_t n_prompt, int64_t n_answer, int32_t n_requests);
  Clock::time_point all_started() const;
  // Tokens a second from then on, until a request had its last one; 0 when one had it before.
  double decode_tps() const;
  size_t most_held() const;  // bytes of pages that sequences held in one step since begin()

  // Gaps between the tokens of streams with tags 1 to n, in seconds, from now on.
  void begin_streams(int32_t n);
  size_t n_gaps() const;
  std::vector<double> take_gaps();

  void on_logits(uint64_t tag, int64_t position, std::span<const float>) override;

 private:
  const SequenceMemory& memory_;
  mutable std::mutex mutex_;
  size_t most_held_ = 0;
  int64_t n_prompt_ = 0, n_answer_ = 0;
  int32_t n_missing_ = 0;
  int64_t n_after_ = 0;
  Clock::time_point all_started_, last_together_;       // of the last token before a request ended
  bool all_run_ = true;                                 // until one ends
  std::vector<std::optional<Clock::time_point>> last_;  // by stream
  std::vector<double> gaps_;
};

}  // namespace quire

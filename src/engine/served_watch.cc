#include "engine/served_watch.h"

#include <algorithm>
#include <utility>

namespace quire {
namespace {

size_t held_bytes(const MemoryGauges& gauges) {
  size_t bytes = 0;
  for (size_t g = 0; g < static_cast<size_t>(gauges.n_groups); ++g)
    bytes += static_cast<size_t>(gauges.groups[g].held) * gauges.groups[g].page_bytes;
  return bytes;
}

}  // namespace

std::unique_lock<std::mutex> ServedBench::Watch::begin(int64_t n_prompt, int64_t n_answer,
                                                       int32_t n_requests) {
  std::unique_lock lock(mutex_);
  n_prompt_ = n_prompt;
  n_answer_ = n_answer;
  all_run_ = true;
  n_missing_ = n_requests;
  n_after_ = 0;
  most_held_ = 0;
  return lock;
}

ServedBench::Watch::Clock::time_point ServedBench::Watch::all_started() const {
  const std::lock_guard lock(mutex_);
  return all_started_;
}

double ServedBench::Watch::decode_tps() const {
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(last_together_ - all_started_).count();
  return n_after_ > 0 && seconds > 0 ? static_cast<double>(n_after_) / seconds : 0;
}

size_t ServedBench::Watch::most_held() const {
  const std::lock_guard lock(mutex_);
  return most_held_;
}

void ServedBench::Watch::begin_streams(int32_t n) {
  const std::lock_guard lock(mutex_);
  last_.assign(static_cast<size_t>(n), std::nullopt);
  gaps_.clear();
}

size_t ServedBench::Watch::n_gaps() const {
  const std::lock_guard lock(mutex_);
  return gaps_.size();
}

std::vector<double> ServedBench::Watch::take_gaps() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gaps_, {});
}

void ServedBench::Watch::on_logits(uint64_t tag, int64_t position, std::span<const float>) {
  const std::lock_guard lock(mutex_);
  if (tag != kRequest) {
    if (tag > last_.size()) return;
    std::optional<Clock::time_point>& last = last_[tag - 1];
    const Clock::time_point now = Clock::now();
    if (last) gaps_.push_back(std::chrono::duration<double>(now - *last).count());
    last = now;
    return;
  }
  most_held_ = std::max(most_held_, held_bytes(memory_.gauges()));
  const Clock::time_point now = Clock::now();
  all_run_ = all_run_ && position < n_prompt_ + n_answer_ - 2;
  if (n_missing_ == 0 && all_run_) {
    ++n_after_;
    last_together_ = now;
  }
  if (position == n_prompt_ - 1 && n_missing_ > 0 && --n_missing_ == 0) all_started_ = now;
}

}  // namespace quire

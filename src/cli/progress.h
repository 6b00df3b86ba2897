// ProgressBar: one line on standard error that shows how far long work is; nothing at all where it may not
// draw.
//
// Redraws at most ten times a second and erases itself when it goes, so that the terminal keeps only results.
// update() may be called from any thread and costs one clock reading when nothing is drawn.
//
//   ProgressBar bar(console.draws_progress(), "Loading", file.data_bytes());
//   ... bar.update(bytes_done);
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace quire::cli {

enum class ProgressUnit : uint8_t { kBytes, kTokens };

// The line for `done` of `total` after `seconds`, at most `columns` characters wide:
// "Loading [#####     ]  50%  549 MB of 1.1 GB, 1.4 GB/s". Pure function.
std::string render_progress(std::string_view label, uint64_t done, uint64_t total, double seconds,
                            size_t columns, ProgressUnit unit = ProgressUnit::kBytes);

class ProgressBar {
 public:
  // draws: whether anything may be shown.
  ProgressBar(bool draws, std::string label, uint64_t total, ProgressUnit unit = ProgressUnit::kBytes);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(uint64_t done);
  // Erases the line; the destructor does it too.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  const bool draws_;
  const std::string label_;
  const uint64_t total_;
  const ProgressUnit unit_;
  const Clock::time_point start_;
  std::atomic<Clock::rep> next_draw_;  // since start_
  std::mutex mutex_;                   // of the terminal line
  bool drawn_ = false;
};

}  // namespace quire::cli
